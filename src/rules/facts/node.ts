/** What is known of the node as a whole. */
import { count, type FactKind, fieldsOf, paramsOf, seconds, text, truth } from './fact.ts';

export const node: FactKind = {
  name: 'node',
  source: 'the Node and the Machine',
  maxAge: { seconds: 660 },
  params: paramsOf({}),
  fields: fieldsOf({
    uptimeSeconds: seconds,
    ageSeconds: seconds,
    pool: text,
    zone: text,
    rack: text,
    arch: text,
    kernelVersion: text,
    osImage: text,
    kubeletVersion: text,
    driverVersion: text,
    driverReadySeconds: seconds,
    gpuAllocatable: count,
    detectorVersion: text,
    unschedulable: truth,
  }),
};
