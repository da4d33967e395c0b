import { type CampaignCarried } from '../../domain/campaign/campaign-carried';
import { type ResultsRef, sumOf } from '../../domain/campaign/results';
import { recounted } from './campaign-results';

type Saved = Pick<CampaignCarried, 'doubled' | 'strayed' | 'overcounted'>;

/**
 * Rows whose results came twice: totals that are summed up from segments count them twice. Lanes of a parent that was
 * reset do that, and lives of a lane that was terminated; then the totals are read from the lines that count.
 */
export class DoubleCounts {
  /** Some row may have been counted twice since the last look. */
  any: boolean;
  isCounting = false;
  /** Micro-units that stand on the books of lanes more often than they were spent. */
  overcounted: number;
  /** Results came of a page that was given to nobody, so that nobody remembers them: any row may come again. */
  private strayed: boolean;

  constructor({ doubled, overcounted, strayed = false }: Saved) {
    this.any = doubled;
    this.overcounted = overcounted;
    this.strayed = strayed;
  }

  /** Results came. @param had how many of them were there already; null when their page is held by nobody */
  note(had: number | null): void {
    if (had === null) this.strayed = true;
    if (had !== 0 || this.strayed) this.any = true;
  }

  /** @param booked what stands on the books of all lanes, in micro-units @returns what puts the totals in their place */
  async recount(counted: ResultsRef, booked: () => number): Promise<(results: ResultsRef) => ResultsRef> {
    this.isCounting = true;
    this.any = false;
    const place = await recounted(counted);
    return (results) => {
      const placed = place(results);
      this.overcounted = Math.max(0, booked() - sumOf(placed.money));
      this.isCounting = false;
      return placed;
    };
  }

  save(): Saved {
    const { any, strayed, overcounted } = this;
    return { doubled: any, ...(strayed && { strayed }), overcounted };
  }
}
