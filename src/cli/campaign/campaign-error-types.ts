import { EXIT } from '../exit-codes';
import { type ErrorRow } from '../error-types';

/** Errors of `campaign`: part of the registry of the command line. */
export const CAMPAIGN_ERRORS = {
  campaign_unconfirmed: [
    EXIT.failed,
    'Rows of the campaign wait for a decision: nobody knows whether they were bought. They are not sent again.',
    '`temporal-media campaign adopt` and `declare-lost` settle them one by one; then `temporal-media campaign resume ID`.',
  ],
  campaign_failed_rows: [
    EXIT.failed,
    'The campaign has ended, and rows of it brought no result.',
    '`temporal-media campaign report ID` shows each with its reason; `temporal-media campaign retry ID` buys a new attempt.',
  ],
  campaign_budget_spent: [
    EXIT.failed,
    'The campaign has ended, and rows were not bought because its budget is spent.',
    'Go on with `temporal-media campaign resume ID --budget AMOUNT`.',
  ],
  campaign_cancelled: [
    EXIT.failed,
    'The campaign was cancelled: rows that were not bought yet stay so. What was bought is collected.',
    'Go on with `temporal-media campaign resume ID`.',
  ],
  campaign_changed_rows: [
    EXIT.failed,
    'Rows that were bought have another text now. They were not bought again.',
    'Say --rebuy-changed to buy the new text, or give the changed rows ids of their own.',
  ],
  campaign_conflict: [
    EXIT.badInput,
    'The id belongs to a campaign that runs with another manifest, or to something else. Nothing was started.',
    'Use another --id, or wait until it has ended: the same id then buys only what is missing.',
  ],
  campaign_ended: [
    EXIT.badInput,
    'The campaign has ended: it takes no orders any more.',
    '`temporal-media campaign resume ID` takes up what is left, `temporal-media campaign retry ID` what failed.',
  ],
  campaign_order_refused: [
    EXIT.badInput,
    'The campaign did not carry the order out; nothing has changed.',
    '`temporal-media campaign status ID` shows how it stands.',
  ],
  manifest_unreadable: [
    EXIT.badInput,
    'The manifest cannot be read. Nothing was sent.',
    'A manifest is CSV with a header, or JSON lines; `temporal-media campaign init` writes one to begin with. A file with one prompt in each line is given with --prompts.',
  ],
  manifest_invalid: [
    EXIT.badInput,
    'The manifest has rows that cannot be bought as they stand, or none. Nothing was sent.',
    'Correct the lines that are named, or leave them out with --on-invalid skip; --dry-run lists all of them.',
  ],
  budget_refused: [
    EXIT.badInput,
    'The budget could not be kept: a model has no price, or prices are in several currencies. Nothing was sent.',
    'Add price rules to the model configuration (MEDIA_MODELS), or split the manifest; `temporal-media models ls` shows the prices.',
  ],
} as const satisfies { readonly [type: string]: ErrorRow };
