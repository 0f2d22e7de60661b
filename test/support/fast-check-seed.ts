/** A setup file of vitest: each property draws its cases by the seed of the run, unless it has its own. */
import fc from 'fast-check';
import { SEED } from './sweep-size.ts';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED });
