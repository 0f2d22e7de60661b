import { beforeEach, describe, expect, it } from 'vitest';
import { NODES } from '../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { createJobBed, type JobBed } from '../job-bed.ts';
import { jobStep } from '../jobs.ts';

const RESET = jobStep('s2', 'ResetGPU', { with: { gpus: 'All' } });
let bed: JobBed;

beforeEach(() => {
  bed = createJobBed();
});

function pod(name: string, fields: object = {}): KubeObject {
  const requests = { 'nvidia.com/gpu': '1' };
  const spec = { nodeName: 'm', containers: [{ name: 'main', image: 'x', resources: { requests } }] };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', name },
    spec: { ...spec, ...fields },
  };
}

function record(): string {
  const found = bed.job()?.status?.steps?.find(({ id }) => id === 's2');
  return `${found?.state} ${found?.code}: ${found?.message}`;
}

describe('the release of ResetGPU', () => {
  it('R35 is given where no pod uses a GPU', async () => {
    bed.apply(pod('web', { containers: [{ name: 'main', image: 'x' }] }));
    bed.apply(pod('elsewhere', { nodeName: 'n2' }));
    bed.createJob({ plan: [jobStep('s1', 'Cordon'), RESET] });
    await bed.start();
    await bed.live(5);
    expect([bed.host.acts, record()]).toEqual([['ResetGPU'], 'Succeeded undefined: undefined']);
  });

  it('R35 is refused by the name of a pod that uses a GPU', async () => {
    bed.apply(pod('training'));
    bed.createJob({ plan: [jobStep('s1', 'Cordon'), RESET] });
    await bed.start();
    await bed.live(10);
    expect(record()).toBe(
      'Failed GPUInUse: Pod shop/training uses nvidia.com/gpu of this node: add Drain before ResetGPU, or end the pod',
    );
    expect(bed.host.acts).toEqual([]);
    expect(bed.job()?.status?.outcome).toMatchObject({ reason: 'GPUInUse' });
    expect(bed.job()?.status?.release).toBeUndefined();
  });

  it('R35 is refused on a node that takes new pods', async () => {
    bed.createJob({ plan: [RESET] });
    await bed.start();
    await bed.live(10);
    expect(record()).toContain('Failed NotCordoned: the node is not cordoned');
    expect(bed.host.acts).toEqual([]);
  });

  it('R35 is not renewed for a pod that came meanwhile, and may have begun all the same', async () => {
    bed.host.isAgentSilent = true;
    bed.createJob({ plan: [jobStep('s1', 'Cordon'), { ...RESET, timeoutSeconds: 120 }] });
    await bed.start();
    await bed.live(5);
    const released = bed.job()?.status?.release?.notAfter;
    expect(released).toBeDefined();
    bed.apply(pod('late'));
    await bed.live(60);
    expect(bed.job()?.status?.release?.notAfter).toBe(released);
    expect(bed.job()?.status?.waiting).toMatchObject({ reason: 'PodBlocked' });
    await bed.live(90);
    expect(record()).toContain('Ambiguous AgentSilent');
    expect(bed.get(NODES, 'm')?.['spec']).toMatchObject({ unschedulable: true });
  });
});
