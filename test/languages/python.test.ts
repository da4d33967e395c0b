import { itBuysFilms } from './support/foreign-parent';
import { python } from './support/programs';

itBuysFilms(python);
