// The same module as a default export of an ES module.
import converters from './codec.js';

export default converters.dataConverter;
