import { describe, expect, it } from 'vitest';
import {
  type FleetLimitsPreview,
  fleetLimitTexts,
  summarizeFleetLimits,
} from '../../../src/sync/preview/fleet-limits.ts';
import { formatPreviewMarkdown } from '../../../src/sync/preview/markdown.ts';
import { formatPreview } from '../../../src/sync/preview/text.ts';

const PREVIEW: FleetLimitsPreview = {
  changes: [
    { policy: 'fleet', effect: 'Loosened', text: 'clusters: max 3 → 5' },
    { policy: 'fleet', effect: 'Tightened', text: 'reboots: max 20 → 10' },
    { policy: 'night', effect: 'Changed', text: 'an allowance lasts 5 min → 10 min' },
  ],
  stops: [{ policy: 'kill-switch', by: 'kim', reason: 'bad [kernel](x)', clusters: 3 }],
  bounds: [
    {
      id: 'fleet/clusters',
      counts: 'clusters in work at once',
      max: 5,
      needed: 6,
      unknownClusters: 0,
      because: 'at most 5 of 8 clusters in work at once (fleet/clusters)',
    },
  ],
};
const TEXTS = [
  'loosened by FleetPolicy fleet: clusters: max 3 → 5',
  'tightened by FleetPolicy fleet: reboots: max 20 → 10',
  'changed by FleetPolicy night: an allowance lasts 5 min → 10 min',
  'stopped by FleetPolicy kill-switch in 3 clusters of the plan, by kim: bad [kernel](x)',
  'at most 5 of 8 clusters in work at once (fleet/clusters)',
];
const WHOLE = {
  from: 'HEAD^',
  to: 'HEAD',
  targets: [],
  refusals: [],
  digest: 'sha256:1',
  fleetLimits: PREVIEW,
};

describe('fleetLimitTexts', () => {
  it('has a line for each change, stop and bound, and none without limits', () => {
    expect(fleetLimitTexts(PREVIEW)).toEqual(TEXTS);
    expect(fleetLimitTexts(undefined)).toEqual([]);
  });

  it('is a part of the plan of a terminal, before the clusters', () => {
    const text = formatPreview(WHOLE);
    expect(text).toContain(`\nlimits over clusters\n${TEXTS.map((line) => `  ${line}\n`).join('')}`);
    expect(text.split('\n')[0]).toContain('limits over clusters: 1 loosened');
    expect(formatPreview({ ...WHOLE, fleetLimits: { changes: [], stops: [], bounds: [] } })).not.toContain(
      'limits over clusters',
    );
  });

  it('is a part of the comment on a pull request, and no word of it breaks the Markdown', () => {
    const text = formatPreviewMarkdown(WHOLE);
    expect(text).toContain('- limits over clusters: loosened by FleetPolicy fleet: clusters: max 3 → 5\n');
    expect(text).not.toContain('[kernel](x)');
  });
});

describe('summarizeFleetLimits', () => {
  it.each<[effects: readonly FleetLimitsPreview['changes'][number]['effect'][], text: string]>([
    [[], ''],
    [['Tightened', 'Changed'], ''],
    [['Loosened', 'Loosened', 'Stops'], 'limits over clusters: 2 loosened, 1 stopped'],
    [['Resumes'], 'limits over clusters: 1 resumed'],
  ])('of %j is %j', (effects, text) => {
    const changes = effects.map((effect) => ({ policy: 'fleet', effect, text: '' }));
    expect(summarizeFleetLimits({ changes, stops: [], bounds: [] })).toBe(text);
  });
});
