/** A separate S3 server, on a free port of the loopback interface. */
export interface S3Server {
  readonly endpoint: string;
  readonly port: number;
  readonly accessKey: string;
  readonly secretKey: string;
  /** The variables with which the AWS SDK connects to it: `AWS_ENDPOINT_URL_S3`, `AWS_REGION` and the keys. */
  readonly env: { readonly [name: string]: string };
  /** Its folder: `buckets/<bucket>/<key>`, `log`. */
  readonly dir: string;
  createBucket(name: string): Promise<void>;
  pid(): number;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Restarts it on the same port, with its data. */
  start(): Promise<void>;
  /** Stops it and removes its folder. */
  stop(): Promise<void>;
}

/** Returns the program, built if necessary, or why it is not available and what to install. */
export function findS3(options?: {
  /** @default true */
  readonly build?: boolean;
  readonly say?: (line: string) => void;
}): { readonly path: string } | { readonly path: null; readonly reason: string };

export function startS3(options?: { readonly say?: (line: string) => void }): Promise<S3Server>;
