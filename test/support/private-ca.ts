import { generate } from 'selfsigned';

/** A certificate with its key, as `node:tls` wants them; PEM. */
export interface Issued {
  readonly cert: string;
  readonly key: string;
}

export interface PrivateCa {
  /** PEM; what NODE_EXTRA_CA_CERTS has to name. */
  readonly cert: string;
  /** A server certificate for DNS names and for 127.0.0.1. */
  issue(...names: readonly string[]): Promise<Issued>;
}

/** A certificate authority that no machine trusts. Its key lives in this process only. */
export async function privateCa(): Promise<PrivateCa> {
  const ca = await generate([{ name: 'commonName', value: 'temporal-media test CA' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return {
    cert: ca.cert,
    issue: async (...names) => {
      const issued = await generate([{ name: 'commonName', value: names[0] ?? 'server' }], {
        keyType: 'ec',
        algorithm: 'sha256',
        ca: { key: ca.private, cert: ca.cert },
        extensions: [
          { name: 'basicConstraints', cA: false },
          { name: 'keyUsage', digitalSignature: true },
          { name: 'extKeyUsage', serverAuth: true },
          {
            name: 'subjectAltName',
            altNames: [
              ...names.map((value) => ({ type: 2 as const, value })),
              { type: 7 as const, ip: '127.0.0.1' },
            ],
          },
        ],
      });
      return { cert: issued.cert, key: issued.private };
    },
  };
}
