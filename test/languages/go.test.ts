import { itBuysFilms } from './support/foreign-parent';
import { go } from './support/programs';

itBuysFilms(go);
