export { safeName } from '../artifacts/durable-file';
