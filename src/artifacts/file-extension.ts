const EXTENSIONS: { readonly [mediaType: string]: string } = {
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'application/json': 'json',
};

/** How the name of a file of this media type ends, without the dot; `bin` for any other. */
export function fileExtension(mediaType: string): string {
  return EXTENSIONS[mediaType.split(';')[0] ?? ''] ?? 'bin';
}
