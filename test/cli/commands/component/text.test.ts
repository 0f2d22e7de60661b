import { expect, it } from 'vitest';
import { coverageOf, usesOf } from '../../../../src/cli/commands/component/coverage.ts';
import { formatCoverage } from '../../../../src/cli/commands/component/text.ts';
import { fleet } from '../../../support/builders.ts';

it('ROL-63 shows versions, coverage and the machines that differ', () => {
  const machines = fleet('done done failed behind');
  expect(formatCoverage(coverageOf(machines.flatMap(usesOf), [], 8), 80)).toBe(
    `COMPONENT   VERSION   DESIRED   CURRENT   FAILED   PHASE
kubelet     1.34.2    3         3         1        Missing
            1.34.1    1         1         0        Missing

  kubelet    on 4 of 8 machines (50 %), 3 at what is desired (75 %); not: m-3
`,
  );
});

it('has a sentence for a cluster without components', () => {
  expect(formatCoverage([], 80)).toContain('no components');
});
