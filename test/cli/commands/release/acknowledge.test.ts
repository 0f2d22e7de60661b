import { describe, expect, it } from 'vitest';
import type { Cluster, Pipeline } from '../../../../src/api/generated/types.ts';
import { DELETES_HELD } from '../../../../src/api/status/sync-words.ts';
import { heldDeletes, heldInHub } from '../../../../src/cli/commands/release/acknowledge.ts';
import { EXIT } from '../../../../src/cli/errors.ts';
import { runCommandLine } from '../../../../src/cli/run.ts';
import { holdHint } from '../../../../src/sync/apply/prune/hold-hint.ts';
import { condition } from '../../../support/builders.ts';
import { testIo } from '../../../support/test-io.ts';
import { cluster } from '../builders.ts';

const PLAN = { unit: 'web', planDigest: 'sha256:aa' };

function heldCluster(name: string, ...held: readonly { unit: string; planDigest: string }[]): Cluster {
  const sync = { state: 'Held', message: '12 of 13 objects would be deleted', held };
  const status = { conditions: [], sync, assigned: { pipeline: 'fleet', mode: 'Apply' } };
  return { ...cluster({}, name), status } as unknown as Cluster;
}

function pipelineWith(
  name: string,
  status: 'True' | 'False',
  message: string,
  reason = DELETES_HELD,
): Pipeline {
  const held = { ...condition('Held', status), reason, message };
  return { metadata: { name }, status: { conditions: [held] } } as unknown as Pipeline;
}

describe('release acknowledge', () => {
  it('FST-8 names every held unit, and each cluster that the same entry releases', () => {
    const one = heldCluster('one', PLAN, { unit: 'db', planDigest: 'sha256:bb' });
    const others = [heldCluster('two', PLAN), heldCluster('three', { ...PLAN, planDigest: 'sha256:cc' })];
    expect(heldDeletes(one, [one, ...others])).toEqual({
      pipeline: 'fleet',
      message: '12 of 13 objects would be deleted',
      units: [PLAN, { unit: 'db', planDigest: 'sha256:bb' }],
      lines: ['unit web in one, two', 'unit db in one'],
    });
  });

  it('FST-8 has nothing to print for a cluster whose deletes are not held', () => {
    expect(() => heldDeletes(heldCluster('one'), [])).toThrow('no deletes are held in cluster one');
  });

  describe('of the hub itself', () => {
    const HELD = { unit: 'fleet.clusters', planDigest: `sha256:${'ab'.repeat(32)}` };

    const fleet = pipelineWith('fleet', 'True', `the hub's own objects: ${holdHint(HELD)}; 1 Cluster`);
    const shop = pipelineWith('shop', 'True', holdHint({ ...HELD, unit: 'shop.clusters' }));

    it('FST-8 names the unit that the condition of the Pipeline reports', () => {
      expect(heldInHub([pipelineWith('other', 'False', ''), fleet], undefined)).toMatchObject({
        pipeline: 'fleet',
        units: [HELD],
        lines: ['unit fleet.clusters in the hub'],
      });
      expect(heldInHub([fleet, shop], 'shop')).toMatchObject({ pipeline: 'shop' });
    });

    it.each<[string, readonly Pipeline[], string]>([
      ['nothing is held', [pipelineWith('fleet', 'False', holdHint(HELD))], 'no deletes of objects'],
      ['a hold has another cause', [pipelineWith('fleet', 'True', 'paused')], 'no deletes of objects'],
      [
        'the deletes of a cluster are held, which have the same words',
        [pipelineWith('fleet', 'True', `prod-eu: ${holdHint(HELD)}; 12 of 13`, 'PlanHeld')],
        'no deletes of objects',
      ],
      [
        'two Pipelines are held',
        [fleet, shop],
        'deletes of several Pipelines are held in the hub: fleet, shop',
      ],
    ])('FST-8 refuses to choose when %s', (_, pipelines, message) => {
      expect(() => heldInHub(pipelines, undefined)).toThrow(message);
    });

    it('FST-8 names the Pipelines of the hub when --pipeline names another one', () => {
      expect(() => heldInHub([fleet], 'flet')).toThrow('Pipeline flet not found in the hub');
    });

    it('FST-8 refuses --pipeline for a cluster before it connects', async () => {
      const io = testIo();
      const args = ['release', 'acknowledge', 'prod-eu', '--reason', 'moved', '--pipeline', 'fleet'];
      expect(await runCommandLine(io, args)).toBe(EXIT.usage);
      expect(io.stderr).toContain('--pipeline is for the hub, and prod-eu is a cluster');
    });
  });
});
