import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FACTS } from '../../src/api/facts.ts';
import { FACT_KINDS } from '../../src/rules/catalog.ts';
import type { FactKind } from '../../src/rules/facts/fact.ts';

/** From the requirements: fact (parameters): fields; maximum age. Shows every change of a field. */
const CATALOGUE = `
condition (type): status reason observedSeconds heartbeatAgeSeconds transitionsPerHour; 660 s
event (reason, windowSeconds): count lastAgeSeconds; 120 s
node (): uptimeSeconds ageSeconds pool zone rack arch kernelVersion osImage kubeletVersion driverVersion driverReadySeconds gpuAllocatable detectorVersion detectorConfig unschedulable; 660 s
component (name): state version ready restartsPerHour failedSeconds; 3 heartbeats
disk (filesystem): usedPercent inodesUsedPercent risingSeconds reclaimableBytes; 3 heartbeats
probe (name): result ageSeconds; 3 heartbeats
history (action, windowSeconds): count lastAgeSeconds lastOutcome; our watch
diagnosis (): cause confidencePercent power peers peerProbes; our watch
maintenance (): pending type state hint secondsUntilNotBefore secondsUntilAct; our watch
xid (codes, windowSeconds): count lastAgeSeconds sinceBoot sinceReset maxPerGPU distinctGPUs; 3 heartbeats
fleet (scope, faultClass, windowSeconds): affectedRatio affectedCount; 120 s
workload (): gangPresent localData blockers; 60 s
metric (query): value; 120 s
`;

function formatKind({ name, params, fields, maxAge }: FactKind): string {
  const age =
    maxAge === 'OurWatch'
      ? 'our watch'
      : 'seconds' in maxAge
        ? `${maxAge.seconds} s`
        : `${maxAge.heartbeats} heartbeats`;
  return `${name} (${[...params.keys()].join(', ')}): ${[...fields.keys()].join(' ')}; ${age}`;
}

describe('the catalog of facts', () => {
  it('contains these facts with these fields', () => {
    expect([...FACT_KINDS.values()].map(formatKind)).toEqual(CATALOGUE.trim().split('\n'));
  });

  it('contains only facts of the API', () => {
    expect([...FACT_KINDS.keys()].filter((name) => !FACTS.some((fact) => fact === name))).toEqual([]);
  });

  it('matches the table in the documentation', () => {
    const manual = readFileSync(new URL('../../docs/concepts/rules.md', import.meta.url), 'utf8');
    const [, table = ''] = manual.split('| fact | params | fields |\n');
    const rows = table.slice(0, table.indexOf('\n\n')).split('\n').slice(1);
    const words = rows.map((row) => row.match(/`[A-Za-z]+`/g)?.map((word) => word.slice(1, -1)));
    expect(words).toEqual(
      [...FACT_KINDS.values()].map(({ name, params, fields }) => [name, ...params.keys(), ...fields.keys()]),
    );
  });

  it.each([...FACT_KINDS.keys()])('has a test of the fact %s', (name) => {
    expect(existsSync(new URL(`facts/${name}.test.ts`, import.meta.url))).toBe(true);
  });

  it('contains the source of each fact', () => {
    expect([...FACT_KINDS.values()].filter(({ source }) => source === '')).toEqual([]);
  });
});
