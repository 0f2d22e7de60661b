import { expect, it } from 'vitest';
import { reportMarkdown } from '../../../src/observability/report/markdown.ts';
import type { FleetReport } from '../../../src/observability/report/report.ts';

const REPORT: FleetReport = {
  from: '2030-01-01T00:00:00.000Z',
  to: '2030-01-08T00:00:00.000Z',
  isComplete: true,
  missing: [],
  sections: [
    {
      id: 'slos',
      title: 'Objectives',
      keys: ['slo'],
      columns: [
        { name: 'good', unit: 'ratio' },
        { name: 'objective', unit: 'ratio' },
      ],
      rows: [
        { keys: ['machines-ready'], values: [0.99, 0.995] },
        { keys: ['agents-reporting'], values: [0.9995, 0.999] },
        { keys: ['drift-corrected'], values: [null, 0.95] },
      ],
      leftOut: 0,
    },
    {
      id: 'delivery',
      title: 'Delivery',
      keys: ['pipeline'],
      columns: [
        { name: 'proven', unit: 'count' },
        { name: 'startedPerDay', unit: 'perDay' },
        { name: 'leadP50', unit: 'seconds' },
        { name: 'restoreP50', unit: 'seconds' },
      ],
      rows: [{ keys: ['a | b <img> @team\n# x'], values: [3.98, 0.571, 9000, 259_200] }],
      leftOut: 2,
    },
    { id: 'faults', title: 'Top faults', keys: ['rule'], columns: [], rows: [], leftOut: 0 },
  ],
};

it('DAT-11 writes the units that people read, and whether an objective was met', () => {
  const text = reportMarkdown(REPORT);
  expect(text).toContain('| slo | good | objective | met |');
  expect(text).toContain('| machines-ready | 99 % | 99.5 % | **no** |');
  expect(text).toContain('| agents-reporting | 99.95 % | 99.9 % | yes |');
  expect(text).toContain('| drift-corrected | - | 95 % | unknown |');
  expect(text).toContain(' | 4 | 0.6 | 2.5 h | 3 d |\n\n2 more are left out.');
  expect(text).toContain('## Top faults\n\nNo data.');
  expect(text).not.toContain('not complete');
});

it('DAT-11 lets no name of an author be markup, a mention or another row', () => {
  const text = reportMarkdown(REPORT);
  const row = text.split('\n').find((line) => line.includes('img')) ?? '';
  expect(row).toContain(String.raw`a \| b &lt;img&gt; @`);
  expect(row).toContain('2.5 h');
  expect(row).not.toContain('@team');
});

it('DAT-11 has what is missing at the top, at most twenty lines of it', () => {
  const missing = Array.from({ length: 25 }, (_, index) => `part ${index} <b>`);
  const text = reportMarkdown({ ...REPORT, isComplete: false, missing });
  expect(text).toContain('**This report is not complete.**\n\n- part 0 &lt;b&gt;\n');
  expect(text).toContain('- part 19 &lt;b&gt;\n- and 5 more\n');
});
