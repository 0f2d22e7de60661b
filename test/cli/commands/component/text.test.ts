import { expect, it } from 'vitest';
import { coverageOf } from '../../../../src/cli/commands/component/coverage.ts';
import { formatCoverage } from '../../../../src/cli/commands/component/text.ts';
import { usesOf } from '../../../../src/observability/fleet/component-uses.ts';
import { fleet } from '../../../support/builders.ts';

it('ROL-63 shows versions, coverage and the machines that differ', () => {
  const machines = fleet('done done failed behind');
  expect(formatCoverage(coverageOf(machines.flatMap(usesOf), [], 8), { columns: 80 })).toBe(
    `COMPONENT   VERSION   DESIRED   CURRENT   FAILED   PHASE
kubelet     1.34.2    3         3         1        Missing
            1.34.1    1         1         0        Missing

  kubelet   on 4 of 8 machines (50 %), 3 at what is desired (75 %); not: m-3
`,
  );
});

it('ROL-63 aligns long names, and keeps a short phase in its row', () => {
  const [coverage] = coverageOf(fleet('done done').flatMap(usesOf), [], 2);
  if (!coverage) throw new Error('no component');
  const names = ['kubelet', 'problem-detector'];
  const text = formatCoverage(
    names.map((component) => ({
      ...coverage,
      component,
      versions: coverage.versions.map((each) => ({
        ...each,
        componentRef: `${component}-1.0.0`,
        phase: 'InUse',
      })),
    })),
    { columns: 80 },
  );
  expect(text.split('\n').filter((line) => line.includes('InUse') || line.includes(' on '))).toEqual([
    'kubelet            1.0.0     2         2         0        InUse',
    'problem-detector   1.0.0     2         2         0        InUse',
    '  kubelet            on 2 of 2 machines (100 %), 2 at what is desired (100 %)',
    '  problem-detector   on 2 of 2 machines (100 %), 2 at what is desired (100 %)',
  ]);
});

it('has a sentence for a cluster without components', () => {
  expect(formatCoverage([], { columns: 80 })).toContain('no components');
});
