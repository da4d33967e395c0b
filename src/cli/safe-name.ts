export { safeName } from '../artifacts/safe-name';
