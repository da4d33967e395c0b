import { type PolledRecord } from '../domain/poll-answers';
import { type VideoReading } from './get-video-result';

/**
 * A reply with the bytes of the last one: its digest is known, and it is read only when somebody looks into it. That is
 * a poll whose caller has not seen the record yet.
 */
export class SameReading implements VideoReading {
  readonly kind = 'record';
  #reading: VideoReading | undefined;

  constructor(
    readonly httpStatus: number,
    readonly digest: string,
    private readonly read: () => VideoReading | undefined,
  ) {}

  get id(): string | undefined {
    return this.reading().id;
  }

  get record(): PolledRecord {
    return this.reading().record;
  }

  get resultUrls(): readonly string[] {
    return this.reading().resultUrls;
  }

  toJSON(): object {
    const { kind, httpStatus, digest } = this;
    return { kind, httpStatus, digest, ...this.reading() };
  }

  private reading(): VideoReading {
    this.#reading ??= this.read();
    if (this.#reading === undefined) throw new Error('A reply that held a record holds none');
    return this.#reading;
  }
}
