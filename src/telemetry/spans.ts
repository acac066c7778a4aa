// Events of a run -> spans for the run, its turns, its requests to the model and its tool calls, named and described by
// the GenAI semantic conventions. Bodies (prompts, inputs, outputs) never enter a span.

import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import type {
  Attempt,
  ModelFailedEvent,
  ModelReplyEvent,
  RunEnd,
  RunEvent,
  RunStart,
  ToolEnd,
  TurnStart,
} from '../core/events.ts';
import type { Subscriber } from '../core/ports.ts';
import { promptTokens } from '../core/usage.ts';

interface Open {
  span: Span;
  context: Context;
}

/** Where a name comes from a model, it is as long as that model wanted. */
const LONGEST = 200;

/** Builds the spans; whatever is still open when the run ends is ended with it. */
export function createSpans(tracer: Tracer, parent: Context): Subscriber {
  return new Spans(tracer, parent);
}

class Spans implements Subscriber {
  readonly name = 'telemetry';
  private readonly tracer: Tracer;
  private readonly parent: Context;
  private run: Open | undefined;
  private turn: Open | undefined;
  private request: Span | undefined;
  private readonly tools = new Map<string, Span>();
  private start: RunStart | undefined;

  constructor(tracer: Tracer, parent: Context) {
    this.tracer = tracer;
    this.parent = parent;
  }

  onEvent(event: RunEvent): void {
    const at = Date.parse(event.time);
    switch (event.type) {
      case 'run_start':
        this.start = event;
        this.run = this.open(`invoke_agent ${event.task.name}`, runAttributes(event), at, this.parent);
        return;
      case 'run_resume':
        this.run ??= this.open('invoke_agent', { 'agent_run.resumed': true }, at, this.parent);
        this.run.span.setAttributes({ 'gen_ai.conversation.id': event.run_id });
        return;
      case 'turn_start':
        return this.onTurn(event, at);
      case 'attempt':
        return this.onAttempt(event, at);
      case 'model_reply':
        this.request?.setAttributes(replyAttributes(event)).end(at);
        this.request = undefined;
        return;
      case 'model_failed':
        return this.onFailed(event, at);
      case 'tool_start':
        return this.onTool(event.tool_use_id, event.name, at);
      case 'tool_end':
        return this.onToolEnd(event, at);
      case 'turn_end':
        this.turn?.span.end(at);
        this.turn = undefined;
        return;
      case 'run_end':
        return this.onEnd(event, at);
      default: // tells of nothing that takes time
    }
  }

  private onTurn({ turn, reason, concluding }: TurnStart, at: number): void {
    this.turn?.span.end(at);
    const attributes = { 'agent_run.turn': turn, 'agent_run.reason': reason, 'agent_run.concluding': concluding };
    this.turn = this.open(`turn ${turn}`, attributes, at, this.run?.context);
    this.request = this.ask(this.start?.task.model.id, at);
  }

  private onAttempt(event: Attempt, at: number): void {
    const type = event.error_type ?? (event.status === undefined ? 'connection' : String(event.status));
    fail(this.request, type, {
      'agent_run.attempt': event.attempt,
      ...(event.status === undefined ? {} : { 'http.response.status_code': event.status }),
    });
    this.request?.end(at);
    this.request = event.wait_ms === undefined ? undefined : this.ask(event.model, at + event.wait_ms);
  }

  private onFailed({ kind }: ModelFailedEvent, at: number): void {
    fail(this.request, kind);
    this.request?.end(at);
    this.request = undefined;
    if (this.turn) fail(this.turn.span, kind);
  }

  private onTool(id: string, name: string, at: number): void {
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': short(name),
      'gen_ai.tool.call.id': short(id),
      'gen_ai.tool.type': 'function',
    };
    const span = this.open(`execute_tool ${short(name)}`, attributes, at, this.turn?.context ?? this.run?.context).span;
    this.tools.set(id, span);
  }

  /** A call that never started (denied, unknown) is told of where it was refused. */
  private onToolEnd({ tool_use_id, name, status, is_error, bytes }: ToolEnd, at: number): void {
    if (!this.tools.has(tool_use_id)) this.onTool(tool_use_id, name, at);
    const span = this.tools.get(tool_use_id);
    this.tools.delete(tool_use_id);
    span?.setAttributes({ 'agent_run.tool.status': status, 'agent_run.tool.bytes': bytes });
    if (is_error) fail(span, status);
    span?.end(at);
  }

  private onEnd({ outcome, exit_code }: RunEnd, at: number): void {
    for (const span of [...this.tools.values(), this.request, this.turn?.span]) span?.end(at);
    this.tools.clear();
    const span = this.run?.span;
    span?.setAttributes({ 'agent_run.exit_reason': outcome.reason, 'agent_run.exit_code': exit_code });
    if (exit_code !== 0) fail(span, outcome.reason);
    span?.end(at);
  }

  private ask(model: string | undefined, at: number): Span {
    const provider = this.start?.task.model.provider;
    const attributes = {
      'gen_ai.operation.name': 'chat',
      ...(model === undefined ? {} : { 'gen_ai.request.model': short(model) }),
      ...(provider === undefined ? {} : { 'gen_ai.provider.name': provider }),
    };
    const context = this.turn?.context ?? this.parent;
    return this.tracer.startSpan(
      `chat ${model ?? ''}`.trim(),
      { attributes, startTime: at, kind: SpanKind.CLIENT },
      context,
    );
  }

  private open(name: string, attributes: Attributes, startTime: number, context = this.parent): Open {
    const span = this.tracer.startSpan(name, { attributes, startTime, kind: SpanKind.INTERNAL }, context);
    return { span, context: trace.setSpan(context, span) };
  }
}

function runAttributes({ task, run_id, untrusted, runner }: RunStart & { run_id: string }): Attributes {
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': task.name,
    'gen_ai.conversation.id': run_id,
    'gen_ai.provider.name': task.model.provider,
    'gen_ai.request.model': short(task.model.id),
    'agent_run.version': runner.version,
    'agent_run.sandbox': runner.sandbox.active,
    'agent_run.untrusted': untrusted,
  };
}

function replyAttributes({ model, message_id, stop_reason, usage, cost_usd }: ModelReplyEvent): Attributes {
  return {
    'gen_ai.response.model': short(model),
    'gen_ai.response.id': short(message_id),
    'gen_ai.response.finish_reasons': [stop_reason],
    'gen_ai.usage.input_tokens': promptTokens(usage),
    'gen_ai.usage.output_tokens': usage.output_tokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cache_read_input_tokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cache_creation_input_tokens,
    ...(cost_usd === null ? {} : { 'agent_run.cost_usd': cost_usd }),
  };
}

function fail(span: Span | undefined, type: string, attributes: Attributes = {}): void {
  span?.setAttributes({ 'error.type': type, ...attributes }).setStatus({ code: SpanStatusCode.ERROR, message: type });
}

function short(text: string): string {
  return text.slice(0, LONGEST);
}
