import { generate } from 'selfsigned';
import { type Issued, type PrivateCa, privateCa } from '../../support/private-ca';
import { type Script } from './script';

/** Certificates for the faults of a handshake; `ca` is what a client of `trusted` has to know. */
export interface Certificates {
  readonly ca: string;
  readonly of: { readonly [kind in Exclude<Script['tls'], undefined | 'raw'>]: Issued };
}

const DAY_MS = 24 * 60 * 60_000;

export async function makeCertificates(): Promise<Certificates> {
  const [own, foreign]: PrivateCa[] = await Promise.all([privateCa(), privateCa()]);
  const expired = await selfMade(7, new Date(Date.now() - DAY_MS));
  const otherName = await selfMade(2, new Date(Date.now() + DAY_MS));
  return {
    // The self-made ones are trusted as well, so that only their date or name can be what is wrong.
    ca: [own!.cert, expired.cert, otherName.cert].join('\n'),
    of: {
      trusted: await own!.issue('localhost'),
      unknown: await foreign!.issue('localhost'),
      expired,
      other_name: otherName,
    },
  };
}

/** @param kind of the one name: 7 is the address 127.0.0.1, 2 a DNS name that nobody asks for */
async function selfMade(kind: 2 | 7, notAfterDate: Date): Promise<Issued> {
  const name = kind === 7 ? { type: kind, ip: '127.0.0.1' } : { type: kind, value: 'elsewhere.invalid' };
  const { cert, private: key } = await generate([{ name: 'commonName', value: `self-made ${kind}` }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - 2 * DAY_MS),
    notAfterDate,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: [name] },
    ],
  });
  return { cert, key };
}
