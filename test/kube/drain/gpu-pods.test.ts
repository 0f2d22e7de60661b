import { expect, it } from 'vitest';
import { gpuPodReason } from '../../../src/kube/drain/gpu-pods.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { drainPod } from '../../support/kube/drain-bed.ts';

function asking(resources: object, field = 'containers', phase = 'Running'): KubeObject {
  const containers = [{ name: 'other' }, { name: 'main', resources }];
  return { ...drainPod('a', { phase }), spec: { nodeName: 'n1', [field]: containers } };
}

it.each<[name: string, pod: KubeObject, reason: string | undefined]>([
  ['a pod without requests uses none', drainPod('a'), undefined],
  ['a pod that requests a CPU uses none', asking({ requests: { cpu: '1', memory: '1Gi' } }), undefined],
  ['a whole GPU', asking({ requests: { 'nvidia.com/gpu': '2' } }), 'nvidia.com/gpu'],
  ['a number in place of a text', asking({ requests: { 'nvidia.com/gpu': 1 } }), 'nvidia.com/gpu'],
  ['a part of a GPU', asking({ requests: { 'nvidia.com/mig-1g.5gb': '1' } }), 'nvidia.com/mig-1g.5gb'],
  ['a shared GPU', asking({ requests: { 'nvidia.com/gpu.shared': '1' } }), 'nvidia.com/gpu.shared'],
  ['memory of a GPU', asking({ requests: { 'aliyun.com/gpu-mem': '3' } }), 'aliyun.com/gpu-mem'],
  ['a GPU by another domain', asking({ requests: { 'gpu.example.com/card': '1' } }), 'gpu.example.com/card'],
  ['cores of a GPU', asking({ limits: { 'tencent.com/vcuda-core': '20' } }), 'tencent.com/vcuda-core'],
  [
    'a part by another domain',
    asking({ limits: { 'example.com/mig-1g.5gb': '1' } }),
    'example.com/mig-1g.5gb',
  ],
  [
    'a device of another kind uses none',
    asking({ limits: { 'rdma/hca_shared': '1', 'x.io/fuse': '1' } }),
    undefined,
  ],
  ['a limit alone', asking({ limits: { 'nvidia.com/gpu': '1' } }), 'nvidia.com/gpu'],
  ['an init container', asking({ requests: { 'nvidia.com/gpu': '1' } }, 'initContainers'), 'nvidia.com/gpu'],
  [
    'the whole pod',
    { ...drainPod('a'), spec: { resources: { requests: { 'nvidia.com/gpu': '1' } } } },
    'nvidia.com/gpu',
  ],
  [
    'a claim, which may be for a GPU',
    { ...drainPod('a'), spec: { resourceClaims: [{}] } },
    'a ResourceClaim',
  ],
  ['a request of zero does not count', asking({ requests: { 'nvidia.com/gpu': '0' } }), undefined],
  ['a quantity that cannot be read counts', asking({ requests: { 'nvidia.com/gpu': {} } }), 'nvidia.com/gpu'],
  [
    'a pod that waits to start counts',
    asking({ requests: { 'nvidia.com/gpu': '1' } }, 'containers', 'Pending'),
    'nvidia.com/gpu',
  ],
  [
    'a pod that has ended uses none',
    asking({ requests: { 'nvidia.com/gpu': '1' } }, 'containers', 'Succeeded'),
    undefined,
  ],
])('R35 finds what a pod uses: %s', (_, pod, resource) => {
  expect(gpuPodReason([drainPod('b'), pod])).toBe(resource && `Pod shop/a uses ${resource}`);
});
