/** The reader of each kind of fact. */

import { readComponent, readDisk, readProbe } from '../../facts/reading/agent-reports.ts';
import type { ReadFact } from '../../facts/reading/answer.ts';
import { readCondition } from './condition.ts';
import { readEvent } from './event.ts';
import { readHistory } from './history.ts';
import { readAnnounced } from './maintenance.ts';
import { readNode } from './node.ts';

export const FACT_READERS: ReadonlyMap<string, ReadFact> = new Map([
  ['condition', readCondition],
  ['event', readEvent],
  ['node', readNode],
  ['component', readComponent],
  ['disk', readDisk],
  ['probe', readProbe],
  ['history', readHistory],
  ['maintenance', readAnnounced],
]);
