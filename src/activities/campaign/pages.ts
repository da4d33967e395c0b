import { type PageAddress } from '../../domain/campaign/activities';
import { type CampaignPage } from '../../domain/campaign/row';

/** Where activities find the requests of rows: pages are artifacts, checked by their hash when they are read. */
export interface Pages {
  /** Rejects when the page cannot be read now or is not what its plan wrote. */
  page(address: PageAddress): Promise<CampaignPage>;
}
