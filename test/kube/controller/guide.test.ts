import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import { NAMESPACE_AGENTS } from '../../../src/api/names.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { conditionStatus } from '../../../src/kube/objects/conditions.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { machine } from '../../support/builders.ts';
import { type ControllerBed, createControllerBed } from '../../support/controller/bed.ts';
import { agentSilence } from './guide/agent-silence.ts';

const GUIDE = join(import.meta.dirname, '../../../docs/guides/write-a-controller.md');
const EXAMPLE = join(import.meta.dirname, 'guide/agent-silence.ts');
const MACHINE_KIND = { resource: MACHINES, status: true };

function heartbeat(renewTime: string): KubeObject {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'm-1', namespace: NAMESPACE_AGENTS },
    spec: { holderIdentity: 'm-1', renewTime },
  };
}

function bedWith(...objects: KubeObject[]): ControllerBed {
  const { apiVersion, kind, spec } = machine('m-1');
  const declared = { apiVersion, kind, metadata: { name: 'm-1' }, spec };
  return createControllerBed({
    controllers: [agentSilence],
    kinds: [MACHINE_KIND],
    objects: [declared, ...objects],
  });
}

function silence(bed: ControllerBed): string {
  return conditionStatus(bed.get(MACHINES, 'm-1')?.status?.conditions, 'AgentSilent');
}

describe('the example of docs/guides/write-a-controller.md', () => {
  it('is the code that these tests run, in fewer than 40 lines', () => {
    const [, code = ''] = /```ts\n(.*?)```/s.exec(readFileSync(GUIDE, 'utf8')) ?? [];
    expect(code.replaceAll("'../../", "'../../../../src/")).toBe(readFileSync(EXAMPLE, 'utf8'));
    expect(code.trimEnd().split('\n').length).toBeLessThan(40);
  });

  it('writes its condition once, and nothing more while heartbeats arrive', async () => {
    const bed = bedWith(heartbeat('12:00'));
    await bed.start();
    for (let minute = 1; minute <= 5; minute += 1) {
      await bed.advance(60_000);
      bed.apply(heartbeat(`12:0${minute}`));
    }
    expect(silence(bed)).toBe('False');
    expect(bed.writes()).toEqual(['apply Machine m-1 status']);
  });

  it('marks a machine whose heartbeats stay away, with an Event, and takes it back', async () => {
    const bed = bedWith(heartbeat('12:00'));
    await bed.start();
    await bed.advance(300_000);
    expect(silence(bed)).toBe('True');
    expect(bed.api.objects.list({ resource: EVENTS }, undefined)).toMatchObject([{ reason: 'AgentSilent' }]);
    bed.apply(heartbeat('12:06'));
    await bed.advance(130_000);
    expect(silence(bed)).toBe('False');
  });

  it('concludes nothing about a machine that never sent one', async () => {
    const bed = bedWith();
    await bed.start();
    await bed.advance(600_000);
    expect(silence(bed)).toBe('Unknown');
    expect(bed.writes()).toEqual([]);
  });
});
