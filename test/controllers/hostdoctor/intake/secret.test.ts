import { describe, expect, it } from 'vitest';
import { ANNOTATION_SECRET_USE, NAMESPACE, SECRET_MAINTENANCE_WEBHOOK } from '../../../../src/api/names.ts';
import { createWebhookSecrets } from '../../../../src/controllers/hostdoctor/intake/secret.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

interface SecretBed {
  readonly reads: string[];
  readonly warnings: () => readonly string[];
  readonly read: () => Promise<readonly string[] | undefined>;
  readonly advance: (ms: number) => Promise<void>;
  stored: KubeObject | Error;
}

function open(stored: KubeObject | Error): SecretBed {
  const clock = virtualClock();
  const log = memoryLog();
  const reads: string[] = [];
  const get = async (
    _: unknown,
    { namespace, name }: { name: string; namespace?: string },
  ): Promise<never> => {
    reads.push(`${namespace}/${name}`);
    if (bed.stored instanceof Error) throw bed.stored;
    return bed.stored as never;
  };
  const bed: SecretBed = {
    reads,
    stored,
    read: createWebhookSecrets({ client: { get }, clock, log }),
    warnings: () => log.lines.map((line) => JSON.stringify(line)),
    advance: (ms) => clock.advance(ms),
  };
  return bed;
}

function secret(value: string, use = 'maintenance-webhook'): KubeObject {
  const data = { secret: Buffer.from(value).toString('base64') };
  const annotations = { [ANNOTATION_SECRET_USE]: use };
  const metadata = { name: SECRET_MAINTENANCE_WEBHOOK, namespace: NAMESPACE, annotations };
  return { apiVersion: 'v1', kind: 'Secret', metadata, data };
}

const GOOD = '0123456789abcdef';

describe('createWebhookSecrets', () => {
  it('reads one Secret by its name, at most once in ten seconds', async () => {
    const bed = open(secret(`${GOOD}\nfedcba9876543210\n`));
    for (const _ of [1, 2, 3]) expect(await bed.read()).toEqual([GOOD, 'fedcba9876543210']); // oxlint-disable-line no-await-in-loop -- in this order
    expect(bed.reads).toEqual([`${NAMESPACE}/${SECRET_MAINTENANCE_WEBHOOK}`]);
    bed.stored = secret('fedcba9876543210');
    await bed.advance(10_000);
    expect(await bed.read()).toEqual(['fedcba9876543210']);
  });

  it.each<[what: string, stored: KubeObject | Error, warning: RegExp]>([
    ['is missing', new KubeError('NotFound', 'not found'), /does not exist: create it with the key secret/],
    ['has another use', secret(GOOD, 'git'), /uses it as maintenance-webhook: name another Secret/],
    ['is short', secret('0123456789abcde'), /expected at least 16 characters in each line/],
    ['cannot be read', new KubeError('Forbidden', 'forbidden'), /forbidden/],
  ])('returns none when the Secret %s, and logs that once', async (_, stored, warning) => {
    const bed = open(stored);
    for (let left = 3; left > 0; left -= 1) {
      expect(await bed.read()).toBeUndefined(); // oxlint-disable-line no-await-in-loop -- in this order
      await bed.advance(10_000); // oxlint-disable-line no-await-in-loop
    }
    expect(bed.warnings()).toEqual([expect.stringMatching(warning) as string]);
    bed.stored = secret(GOOD);
    expect(await bed.read()).toEqual([GOOD]);
    bed.stored = stored;
    await bed.advance(10_000);
    await bed.read();
    expect(bed.warnings()).toHaveLength(2);
  });

  it('never logs the secret that it refuses', async () => {
    const bed = open(secret('short-secret'));
    await bed.read();
    expect(bed.warnings().join()).not.toContain('short-secret');
  });
});
