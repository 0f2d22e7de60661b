import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MACHINE_INFO } from '../../../src/observability/metrics/machine.ts';
import { MACHINE_REPAIRS } from '../../../src/observability/metrics/repair.ts';
import { METRIC_PROCESSES, METRIC_TABLE } from '../../../src/observability/metrics/table.ts';
import { seriesOf } from '../../../src/observability/pages/metrics-page.ts';
import { served } from './served.ts';

const NAMING: readonly string[] = [MACHINE_INFO.name, MACHINE_REPAIRS.name];
/** All but those that name machines. */
const COUNTING = METRIC_TABLE.filter(({ name }) => !NAMING.includes(name));
const SERVED_BY = { agent: 'kubenode_agent_', controllers: '', hosting: '', sync: '' };

describe('DAT-01 the table of metrics', () => {
  it('DAT-01 has each metric once, with a file that writes it', () => {
    const names = METRIC_TABLE.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    const unwritten = METRIC_TABLE.filter(({ writtenIn, name }) => !writes(writtenIn, name));
    expect(unwritten.map(({ name }) => name)).toEqual([]);
  });

  it.each(METRIC_PROCESSES)(
    'DAT-01 is what the process %s serves: none missing, none extra',
    async (process) => {
      const own = METRIC_TABLE.filter(({ processes }) => processes.includes(process));
      const want = own.map(({ name, type }) => `kubenode_${name} ${type}`).toSorted();
      expect(await served(process)).toEqual(want);
      expect(want.filter((each) => each.startsWith(SERVED_BY[process])).length).toBe(want.length);
    },
  );

  it('DAT-01 has no label without a bound', () => {
    const unbounded = COUNTING.filter(({ labels = {} }) =>
      Object.values(labels).some((values) => ('of' in values ? values.most > 1000 : values.length === 0)),
    );
    expect(unbounded.map(({ name }) => name)).toEqual([]);
    const named = COUNTING.filter(({ labels = {}, processes }) =>
      Object.keys(labels).some(
        (label) => ['machine', 'node', 'job', 'commit'].includes(label) && !processes.includes('agent'),
      ),
    );
    expect(named.map(({ name }) => name)).toEqual([]);
  });

  it('DAT-12 permits at most 20,000 series of a cluster, whatever people name', () => {
    const own = COUNTING.filter(({ processes }) => processes.includes('controllers'));
    expect(own.reduce((sum, metric) => sum + seriesOf(metric), 0)).toBeLessThanOrEqual(20_000);
  });

  it('DAT-12 names ten machines in one metric, and 10,000 in another for which there is an option', () => {
    expect(seriesOf(MACHINE_REPAIRS)).toBeLessThanOrEqual(12);
    expect(MACHINE_INFO.option).toBe('--machine-info');
    // One more for what is left out.
    expect(seriesOf(MACHINE_INFO)).toBe(10_001);
  });
});

/** Where metrics are registered, their rows are imported; those of the runtime are in the same file. */
function writes(path: string, name: string): boolean {
  if (!existsSync(path)) return false;
  const text = readFileSync(path, 'utf8');
  return text.includes(`'${name}'`) || /from '[./]*(?:observability\/)?metrics\/\w+\.ts'/.test(text);
}
