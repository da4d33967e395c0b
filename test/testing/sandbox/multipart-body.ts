/** One part as a test writes it; with a file name it is a file part. */
export interface TestPart {
  name: string;
  content: string | Buffer;
  filename?: string;
}

/** A multipart body with exactly these parts in exactly this order. */
export function multipartBody(parts: TestPart[]): { body: Buffer; headers: Record<string, string> } {
  const boundary = 'sandbox-test-boundary';
  const chunks = parts.flatMap(({ name, content, filename }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"\r\ncontent-type: image/png`;
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n`;
    return [Buffer.from(head), Buffer.from(content), Buffer.from('\r\n')];
  });
  return {
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}
