/** The facts that a rule may name, and those that it may name in a later version. */
import { FACTS } from '../api/facts.ts';
import { component } from './facts/component.ts';
import { condition } from './facts/condition.ts';
import { disk } from './facts/disk.ts';
import { event } from './facts/event.ts';
import type { FactKind } from './facts/fact.ts';
import { history } from './facts/history.ts';
import { node } from './facts/node.ts';
import { probe } from './facts/probe.ts';
import { guess, type Report, shown } from './problems.ts';

export const FACT_KINDS: ReadonlyMap<string, FactKind> = new Map(
  [condition, event, node, component, disk, probe, history].map((kind) => [kind.name, kind]),
);

const NAMES: readonly string[] = [...FACT_KINDS.keys()];
const LATER: readonly string[] = FACTS.filter((name) => !FACT_KINDS.has(name));

/** The kind of that name; a name of the API that has no source yet is refused as such. */
export function factKind(report: Report, path: string, name: unknown): FactKind | undefined {
  if (typeof name !== 'string') return report(path, `must be the name of a fact: one of ${NAMES.join(', ')}`);
  const known = FACT_KINDS.get(name);
  if (known) return known;
  if (LATER.includes(name)) {
    return report(path, `the fact ${name} is not available in this version: there are ${NAMES.join(', ')}`);
  }
  return report(path, `there is no fact ${shown(name)}: there are ${NAMES.join(', ')}${guess(name, NAMES)}`);
}
