import { describe, expect, it } from 'vitest';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { servedKind } from '../../../src/sim/api-server/kinds.ts';
import {
  checkFinalizers,
  checkVersions,
  inScope,
  withGeneration,
} from '../../../src/sim/api-server/write-rules.ts';
import { WIDGET_KIND, widget } from '../../support/controller/widgets.ts';

const metadata = { name: 'a', uid: 'u', resourceVersion: '7', generation: 1, finalizers: ['x'] };
const LIVE: KubeObject = { ...widget('a', { size: 1 }), metadata, status: { phase: 'x' } };

describe('inScope', () => {
  it('takes the status only by its subresource, where there is one', () => {
    const { status, spec } = LIVE;
    expect(inScope(WIDGET_KIND, LIVE, 'status')).toEqual({ ...widget('a'), spec: undefined, status });
    expect(inScope(WIDGET_KIND, LIVE, undefined)).not.toHaveProperty('status');
    expect(inScope({ resource: NODES }, LIVE, undefined)).toMatchObject({ spec, status });
    expect(inScope(WIDGET_KIND, LIVE, undefined).metadata).not.toHaveProperty('uid');
  });
});

describe('withGeneration', () => {
  it.each<[string, object, number | undefined]>([
    ['a new spec', { spec: { size: 2 } }, 2],
    ['another status', { status: {} }, 1],
    ['the begin of a deletion', { metadata: { ...metadata, deletionTimestamp: 'now' } }, 2],
  ])('counts %s', (_, change, generation) => {
    expect(withGeneration(WIDGET_KIND, LIVE, { ...LIVE, ...change }).metadata.generation).toBe(generation);
  });

  it('counts nothing for a kind without a generation', () => {
    expect(withGeneration(servedKind(NODES), LIVE, { ...LIVE, spec: {} }).metadata.generation).toBe(1);
  });
});

describe('checks', () => {
  it('refuse another object, another version, and a new finalizer in a deletion', () => {
    expect(() => checkVersions(LIVE, { uid: 'u', resourceVersion: '7' })).not.toThrow();
    expect(() => checkVersions(LIVE, { uid: 'v' })).toThrow('uid v is not u');
    expect(() => checkVersions(LIVE, { resourceVersion: '6' })).toThrow('the object has been modified');
    const deleted = { ...LIVE, metadata: { ...metadata, deletionTimestamp: 'now' } };
    const added = { ...deleted, metadata: { ...deleted.metadata, finalizers: ['x', 'y'] } };
    expect(() => checkFinalizers(LIVE, added)).not.toThrow();
    expect(() => checkFinalizers(deleted, deleted)).not.toThrow();
    expect(() => checkFinalizers(deleted, added)).toThrow('no new finalizers');
  });
});
