export { nearNames } from '../domain/near-names';
