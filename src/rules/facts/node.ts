/** Properties of the node as a whole. */
import {
  BOOLEAN_FIELD,
  COUNT_FIELD,
  createFields,
  createParams,
  type FactKind,
  SECONDS_FIELD,
  TEXT_FIELD,
} from './field.ts';

export const nodeFact = {
  name: 'node',
  source: 'the Node and the Machine',
  maxAge: { seconds: 660 },
  params: createParams({}),
  fields: createFields({
    uptimeSeconds: SECONDS_FIELD,
    ageSeconds: SECONDS_FIELD,
    pool: TEXT_FIELD,
    zone: TEXT_FIELD,
    rack: TEXT_FIELD,
    arch: TEXT_FIELD,
    kernelVersion: TEXT_FIELD,
    osImage: TEXT_FIELD,
    kubeletVersion: TEXT_FIELD,
    driverVersion: TEXT_FIELD,
    driverReadySeconds: SECONDS_FIELD,
    gpuAllocatable: COUNT_FIELD,
    detectorVersion: TEXT_FIELD,
    unschedulable: BOOLEAN_FIELD,
  }),
} satisfies FactKind;
