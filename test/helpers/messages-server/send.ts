import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { messageFrames, wholeMessage } from './frames.ts';
import type { FilledMessage, Frame } from './frames.ts';
import { frame } from './reply.ts';
import type { ErrorObject, Fault, HttpReply, Pause, Point } from './types.ts';

/** One answer on its way: the response, its headers, and when to stop waiting for gates. */
export interface Delivery {
  response: ServerResponse;
  headers: Record<string, string>;
  closing: AbortSignal;
}

/** What the sender tells the server at the two moments that change what the next request may contain. */
export interface Moments {
  onHead: () => void;
  onComplete: () => void;
}

/** Answers with an HTTP status and a JSON error or any text. */
export async function sendHttp(delivery: Delivery, reply: HttpReply): Promise<void> {
  await pauseAt('request', reply.pause, delivery);
  const { response, headers } = delivery;
  response.writeHead(reply.status, { ...headers, ...reply.headers });
  response.flushHeaders();
  await pauseAt('head', reply.pause, delivery);
  response.end(typeof reply.body === 'string' ? reply.body : errorText(reply.body, headers['request-id']));
}

/** The service's error envelope as JSON text. */
export function errorText(error: ErrorObject, requestId: string | undefined): string {
  return JSON.stringify({ type: 'error', error, request_id: requestId ?? null });
}

/** Streams a message with its pauses and its fault; resolves when nothing more will be sent. */
export async function sendStream(
  delivery: Delivery,
  message: FilledMessage,
  fault: Fault | undefined,
  moments: Moments,
): Promise<void> {
  const { response, headers } = delivery;
  if (await ends('request', delivery, message, fault)) return;
  moments.onHead();
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    ...headers,
    ...message.spec.headers,
  });
  response.flushHeaders();
  if (await ends('head', delivery, message, fault)) return;
  for (const next of messageFrames(message)) {
    if (next.event === 'message_stop') moments.onComplete();
    await write(response, frame(next.event, next.data), message.spec.wire_size);
    if (await endsAfter(next, delivery, message, fault)) return;
  }
  response.end();
}

/** Answers without streaming; any fault becomes a reset, for there is no stream to break. */
export async function sendWhole(
  delivery: Delivery,
  message: FilledMessage,
  fault: Fault | undefined,
  moments: Moments,
): Promise<void> {
  await pauseAt('request', message.spec.pause, delivery);
  if (fault !== undefined) {
    delivery.response.destroy();
    return;
  }
  moments.onHead();
  moments.onComplete();
  delivery.response.writeHead(200, {
    'content-type': 'application/json',
    ...delivery.headers,
    ...message.spec.headers,
  });
  delivery.response.end(JSON.stringify(wholeMessage(message)));
}

async function endsAfter(
  sent: Frame,
  delivery: Delivery,
  message: FilledMessage,
  fault: Fault | undefined,
): Promise<boolean> {
  for (const point of sent.points) {
    if (await ends(point, delivery, message, fault)) return true;
  }
  return delivery.response.destroyed;
}

// Everything a script placed at this point, in order: extra events, pauses, the fault. True when the reply is over.
async function ends(
  point: Point,
  delivery: Delivery,
  message: FilledMessage,
  fault: Fault | undefined,
): Promise<boolean> {
  const { response } = delivery;
  for (const extra of message.spec.extra_events ?? []) {
    if (extra.after === point) await write(response, frame(extra.event, extra.data), message.spec.wire_size);
  }
  await pauseAt(point, message.spec.pause, delivery);
  if (response.destroyed) return true;
  if (fault?.after !== point) return false;
  if (fault.send !== undefined) await write(response, fault.send, message.spec.wire_size);
  if (fault.finish === 'end') response.end();
  if (fault.finish === 'reset') response.destroy();
  return fault.finish !== 'continue';
}

async function pauseAt(point: Point, pause: Pause | Pause[] | undefined, delivery: Delivery): Promise<void> {
  const pauses = Array.isArray(pause) ? pause : pause === undefined ? [] : [pause];
  for (const { after, until } of pauses) {
    if (after !== point) continue;
    if (typeof until === 'number') {
      await Promise.race([new Promise((resolve) => setTimeout(resolve, until)), abandoned(delivery)]);
    } else {
      until.arrive();
      await Promise.race([until.released, abandoned(delivery)]);
    }
  }
}

// A held reply must not outlive its client or the server.
function abandoned(delivery: Delivery): Promise<void> {
  return new Promise((resolve) => {
    if (delivery.closing.aborted || delivery.response.destroyed) resolve();
    delivery.closing.addEventListener('abort', () => resolve(), { once: true });
    delivery.response.once('close', resolve);
  });
}

// Each piece waits until it was handed to the kernel, so that a reset never takes earlier events with it.
async function write(response: ServerResponse, text: string, size: number | undefined): Promise<void> {
  const bytes = Buffer.from(text, 'utf8');
  const step = size ?? bytes.length;
  for (let at = 0; at < bytes.length; at += step) {
    if (response.destroyed) return;
    await new Promise<void>((resolve) => {
      response.once('close', resolve);
      response.write(bytes.subarray(at, at + step), () => {
        response.off('close', resolve);
        resolve();
      });
    });
    // Lets the reader see this piece before the next one: it would join pieces that wait together.
    if (size !== undefined) await setImmediate();
  }
}
