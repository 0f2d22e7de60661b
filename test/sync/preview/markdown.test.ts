import { expect, it } from 'vitest';
import { formatPreviewMarkdown } from '../../../src/sync/preview/markdown.ts';
import type { Preview } from '../../../src/sync/preview/preview.ts';

const DIGEST = `sha256:${'1'.repeat(64)}`;

function previewOf(targets: number, details: number): Preview {
  return {
    from: 'main',
    to: 'change',
    digest: DIGEST,
    refusals: [],
    targets: Array.from({ length: targets }, (_, index) => ({
      target: `cluster-${index}`,
      by: 'live',
      units: [
        {
          unit: 'web',
          changes: Array.from({ length: details }, (__, at) => ({
            action: 'update' as const,
            object: `ConfigMap settings-${at}`,
            details: [],
          })),
        },
      ],
    })),
  };
}

it('S22 has every target and its details without a limit', () => {
  const text = formatPreviewMarkdown(previewOf(40, 40));
  expect(text.match(/ConfigMap settings/g)).toHaveLength(1600);
  expect(text).not.toContain('too long');
  expect(text.split('\n')[0]).toBe('### kubenode plan: 40 of 40 targets change; 1600 update');
});

it('S22 gives one large target a quarter of the room at most, and counts its other lines', () => {
  const text = formatPreviewMarkdown(previewOf(1, 2000), { maxBytes: 10_000 });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10_000);
  expect(text).toMatch(/^and \d+ more lines$/m);
});

it.each([2000, 5000, 20_000])('S22 has at most %d bytes', (maxBytes) => {
  const notes = Array.from({ length: 50 }, (_, index) => `note ${index}`);
  const text = formatPreviewMarkdown(previewOf(300, 30), { of: 'fleet', notes, maxBytes });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
  expect(text.endsWith(`plan \`${DIGEST}\`\n`)).toBe(true);
});

it('S22 names the Pipeline in its title, and puts notes before the table', () => {
  const text = formatPreviewMarkdown(previewOf(1, 1), { of: 'fleet_a', notes: ['a *note*'] });
  expect(text).toContain(String.raw`### kubenode plan of fleet\_a: `);
  expect(text.indexOf(String.raw`- a \*note\*`)).toBeLessThan(text.indexOf('| target |'));
});
