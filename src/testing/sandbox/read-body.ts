import { compatCreate, formFields } from './compat-request';
import { type Exchange } from './exchange';
import { type JsonObject } from './json-value';
import { readPartsOrRefuse } from './read-parts';

/**
 * The body of a create: JSON, in `compat` mode also multipart, put into the names and types of the contract. Undefined
 * when it is neither; 'unreadable' when it broke off and was answered.
 */
export async function readBody(exchange: Exchange): Promise<JsonObject | undefined | 'unreadable'> {
  if (exchange.core.options.mode === 'strict') return exchange.json();
  const parts = await readPartsOrRefuse(exchange);
  if (parts === 'unreadable') return parts;
  const body = parts === undefined ? exchange.json() : formFields(parts);
  return body === undefined ? undefined : compatCreate(body);
}
