import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { describe, expect, it } from 'vitest';
import {
  declareFreeze,
  declareWebhook,
  joinStages,
  requireSignatures,
} from '../../../src/demo/tour/pipeline-edits.ts';

const FILE = new URL('../../../src/demo/template/templates/demo/fleet/pipelines.ts', import.meta.url);
const PIPELINES = readFileSync(FILE, 'utf8');
const FREEZE = { name: 'tour', from: '2030-01-01T00:00:00Z', until: '2030-01-01T01:00:00Z', reason: 'shown' };

interface Declared {
  readonly source: Readonly<Record<string, unknown>>;
  readonly freezes?: readonly unknown[];
  readonly stages: readonly Readonly<Record<string, unknown>>[];
}

async function load(text: string): Promise<Declared> {
  const code = Buffer.from(stripTypeScriptTypes(text)).toString('base64');
  const found = (await import(`data:text/javascript;base64,${code}`)) as { fleetPipeline: Declared };
  return found.fleetPipeline;
}

describe('edits of the Pipeline of the demo', () => {
  it('S19 requires a signature by a key of the file, and changes nothing else', async () => {
    const [before, after] = [await load(PIPELINES), await load(requireSignatures(PIPELINES, 'keys/tour'))];
    const signers = [{ name: 'tour', keysPath: 'keys/tour' }];
    expect(after).toEqual({ ...before, source: { ...before.source, signatures: 'Range', signers } });
  });

  it('S36 declares a freeze that lets a revert through in each stage', async () => {
    const [before, after] = [await load(PIPELINES), await load(declareFreeze(PIPELINES, FREEZE))];
    const stages = before.stages.map((stage) => ({ ...stage, revertPasses: { freezes: true } }));
    expect(after).toEqual({ ...before, freezes: [FREEZE], stages });
  });

  it('S31 makes one stage of test and pre, and keeps the last one', async () => {
    const [before, after] = [await load(PIPELINES), await load(joinStages(PIPELINES))];
    const values = ['test', 'pre'];
    const matchExpressions = [{ key: 'kubenode.dev/environment', operator: 'In', values }];
    const joined = {
      name: 'test',
      clusterSelector: { matchExpressions },
      maxConcurrentClusters: 2,
      soakSeconds: 3,
    };
    expect(after).toEqual({ ...before, stages: [joined, before.stages[2]] });
  });

  it('S25 reads the repository rarely, and names the secret of a webhook', async () => {
    const [before, after] = [await load(PIPELINES), await load(declareWebhook(PIPELINES, 'webhook-7'))];
    const source = { ...before.source, pollSeconds: 300, webhookSecretRef: { name: 'webhook-7' } };
    expect(after).toEqual({ ...before, source });
  });

  it('changes nothing in a file of another form', () => {
    const other = 'export const fleetPipeline = {};';
    expect([requireSignatures(other, 'k'), declareFreeze(other, FREEZE), declareWebhook(other, 's')]).toEqual(
      [other, other, other],
    );
  });
});
