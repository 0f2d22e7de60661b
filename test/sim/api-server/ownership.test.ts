import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { pinnedComponents } from '../../../src/controllers/componentset/members/pins.ts';
import { DEFAULT_TYPE, servedKind } from '../../../src/sim/api-server/kinds.ts';
import { applyFields, updateFields } from '../../../src/sim/api-server/ownership.ts';
import { machine } from '../../support/builders.ts';

const MANAGER = 'kubenode-componentset';
const { type = DEFAULT_TYPE } = servedKind(MACHINES);
const DECLARED = machine('m-1');

describe('applyFields', () => {
  it('makes the controller the owner of the entries that it applies, so that none is a pin', () => {
    const { apiVersion, kind, metadata, spec } = DECLARED;
    const live = updateFields(
      undefined,
      { ...DECLARED, spec: { ...spec, components: [] } },
      { manager: 'person', type },
    );
    const intent = {
      apiVersion,
      kind,
      metadata: { name: metadata.name },
      spec: { components: spec.components },
    };
    const { object, conflicts } = applyFields(live, intent, { manager: MANAGER, type });
    expect(conflicts).toEqual([]);
    expect(object['spec']).toEqual(spec);
    expect(pinnedComponents(object as Machine).size).toBe(0);
    const byPerson = updateFields(undefined, DECLARED, { manager: 'person', type });
    expect(pinnedComponents(byPerson as Machine).size).toBe(1);
  });

  it('lists the fields that another manager owns with another value', () => {
    const live = updateFields(undefined, DECLARED, { manager: 'person', type });
    const { apiVersion, kind, metadata } = DECLARED;
    const [component] = DECLARED.spec.components;
    const spec = { agentEpoch: 7, minReadySeconds: 0, components: [{ ...component, componentRef: 'other' }] };
    const intent = { apiVersion, kind, metadata: { name: metadata.name }, spec };
    expect(applyFields(live, intent, { manager: MANAGER, type }).conflicts).toEqual([
      `person: .spec.components[k:{"name":"${component?.name}"}].componentRef`,
      'person: .spec.agentEpoch',
    ]);
  });
});

describe('updateFields', () => {
  it('gives each writer of a subresource its own entry, and takes what is removed from its owner', () => {
    const kind = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } };
    const writer = { manager: 'm', type: DEFAULT_TYPE };
    const created = updateFields(undefined, { ...kind, spec: { a: 1, b: 1 } }, writer);
    const status = { ...created, status: { phase: 'x' } };
    const reported = updateFields(created, status, { ...writer, subresource: 'status' });
    const { managedFields } = updateFields(
      reported,
      { ...reported, spec: { a: 2 } },
      {
        ...writer,
        manager: 'other',
      },
    ).metadata;
    expect(managedFields).toEqual([
      {
        manager: 'm',
        operation: 'Update',
        subresource: 'status',
        fieldsV1: { 'f:status': { 'f:phase': {} } },
      },
      { manager: 'other', operation: 'Update', fieldsV1: { 'f:spec': { 'f:a': {} } } },
    ]);
  });
});
