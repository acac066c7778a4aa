import { crc32, deflateSync } from 'node:zlib';

/** A grey PNG, whole and small. */
export function png(width: number, height: number, chunks: readonly Buffer[] = []): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const pixels = deflateSync(Buffer.alloc((width + 1) * height));
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  const parts = [pngChunk('IHDR', header), ...chunks, pngChunk('IDAT', pixels), pngChunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...parts]);
}

export function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** The segments of a JPEG, without a picture. */
export function jpeg(width: number, height: number): Buffer {
  const frame = Buffer.from('ffc00011080000000003012200021101031101', 'hex');
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  const [start, scan, end] = ['ffd8ffe000104a46494600010100000100010000', 'ffda0008010100003f00d2', 'ffd9'];
  return Buffer.concat([hex(start), frame, hex(scan), hex(end)]);
}

export function gif(width: number, height: number): Buffer {
  const head = Buffer.from('GIF89a\0\0\0\0\0\0\0', 'latin1');
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  return Buffer.concat([head, hex('2c00000000010001000002024401003b')]);
}

/** The header of a WebP of the extended form. */
export function webp(width: number, height: number): Buffer {
  const data = Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0', 'latin1'), Buffer.alloc(10)]);
  data.writeUInt32LE(data.length - 8, 4);
  data.writeUIntLE(width - 1, 24, 3);
  data.writeUIntLE(height - 1, 27, 3);
  return data;
}

/** A PDF of empty pages; `packed`: in an object stream, as newer files have them. */
export function pdf(pages: number, { packed = false, trailer = '' } = {}): Buffer {
  const objects = Array.from({ length: pages }, () => '<< /Type /Page /Parent 2 0 R >>').join('\n');
  const tree = `<< /Type /Pages /Count ${pages} /Kids [] >>\n${objects}`;
  const body = packed ? deflateSync(Buffer.from(tree)) : Buffer.from(tree);
  const head = packed ? `5 0 obj\n<< /Type /ObjStm /Filter /FlateDecode /Length ${body.length} >>\nstream\n` : '';
  const tail = packed ? '\nendstream\nendobj\n' : '\n';
  return Buffer.concat([
    Buffer.from(`%PDF-1.5\n${head}`),
    body,
    Buffer.from(`${tail}trailer << /Root 1 0 R ${trailer} >>\n%%EOF\n`),
  ]);
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}
