import { describe, expect, it } from 'vitest';
import { choosePipeline, readLimits, unknownIdentities } from '../../../src/cli/plan/limits.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { acknowledgementId } from '../../../src/sync/judge/delete-budget.ts';
import type { PreviewLimits } from '../../../src/sync/preview/preview.ts';
import { HUB_TARGET, type Rendered } from '../../../src/sync/rendered.ts';

function pipeline(name: string, spec?: object): KubeObject {
  return { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Pipeline', metadata: { name }, spec };
}

function renderedOf(...objects: readonly KubeObject[]): Rendered {
  const unit = { unit: 'pipelines', objects: objects.map((object) => ({ object, source: {} })), digest: '' };
  const units = objects.length === 0 ? [] : [unit];
  return { commit: 'a', targets: [{ target: HUB_TARGET, units, digest: '' }] };
}

/** Another Pipeline comes first: it is never the one that counts. */
function renderedWith(spec?: object): Rendered {
  const other = pipeline('a', { deleteBudget: { maxObjects: 0, maxPercent: 0 } });
  return spec === undefined ? renderedOf() : renderedOf(other, pipeline('fleet', spec));
}

function limitsOf(before: object | undefined, after: object | undefined): PreviewLimits {
  return readLimits({ from: renderedWith(before), to: renderedWith(after) }, 'fleet');
}

const LOOSE = { deleteBudget: { maxObjects: 1000, maxPercent: 100 } };
const STRICT = { deleteBudget: { maxObjects: 3, maxPercent: 5 } };

describe('unknownIdentities', () => {
  it('S29 refuses an account for a unit that the change does not render, unless it had one before', () => {
    const [to, from] = [renderedWith({ identities: [{ unit: 'web' }] }), renderedWith({})];
    expect(unknownIdentities({ from, to }, 'fleet')).toHaveLength(1);
    expect(unknownIdentities({ from: undefined, to }, 'fleet')).toHaveLength(1);
    expect(unknownIdentities({ from: to, to }, 'fleet')).toEqual([]);
    expect(unknownIdentities({ from, to }, undefined)).toEqual([]);
  });
});

describe('readLimits', () => {
  it('uses the stricter budget of both sides, so that no commit raises its own', () => {
    expect(limitsOf(STRICT, LOOSE).budget).toEqual(STRICT.deleteBudget);
    expect(limitsOf(LOOSE, STRICT).budget).toEqual(STRICT.deleteBudget);
  });

  it('uses the only side that declares the Pipeline', () => {
    expect(limitsOf(undefined, LOOSE).budget).toEqual(LOOSE.deleteBudget);
    expect(limitsOf(LOOSE, undefined).budget).toEqual(LOOSE.deleteBudget);
  });

  it('uses the defaults of the kind for omitted fields', () => {
    expect(limitsOf({ deleteBudget: { maxObjects: 3 } }, {}).budget).toEqual({
      maxObjects: 3,
      maxPercent: 20,
    });
    expect(limitsOf(undefined, undefined).budget).toEqual({ maxObjects: 10, maxPercent: 20 });
  });

  it('takes over the fields of a manager only if both sides name it, and ignores what the change ignores', () => {
    const ignore = { unit: 'web', kind: 'Deployment', path: 'spec.replicas', policy: 'Ignore' };
    const { unit: _unit, ...everywhere } = ignore;
    const after = { forceManagers: ['helm', 'kubectl'], fieldPolicies: [ignore, everywhere] };
    expect(limitsOf({ forceManagers: ['helm', 'old'] }, after)).toMatchObject({
      forceManagers: ['helm'],
      fieldPolicies: [ignore, everywhere],
    });
    expect(limitsOf(undefined, after).forceManagers).toEqual(['helm', 'kubectl']);
    expect(limitsOf(after, {})).toMatchObject({ forceManagers: [], fieldPolicies: [] });
  });

  it('uses the acknowledgements after the change, of which those before it may be spent', () => {
    const old = { unit: 'test.shop', planDigest: 'sha256:1', reason: 'reviewed' };
    const added = { ...old, planDigest: 'sha256:2' };
    const limits = limitsOf({ acknowledgements: [old] }, { acknowledgements: [old, added] });
    expect(limits).toMatchObject({ acknowledgements: [old, added], spent: [acknowledgementId(old)] });
    expect(limitsOf({ acknowledgements: [old] }, {}).acknowledgements).toEqual([]);
  });
});

function reading(name: string, path?: string): KubeObject {
  return pipeline(name, { source: { path } });
}

describe('choosePipeline', () => {
  it.each<[name: string, to: readonly KubeObject[], path: string, expected: string | undefined]>([
    ['none where the repository declares none', [], '.', undefined],
    ['the only one, whatever it reads', [reading('a', 'fleet')], '.', 'a'],
    ['the only one that reads the folder', [reading('a', 'one'), reading('b', './two')], 'two/', 'b'],
    ['the only one that reads the root', [reading('a', 'one'), reading('b')], '.', 'b'],
  ])('chooses %s', (_, to, path, expected) => {
    expect(choosePipeline({ from: undefined, to: renderedOf(...to) }, { path })).toBe(expected);
  });

  it('asks for a name where it cannot know, and takes that', () => {
    const sides = { from: renderedOf(reading('c')), to: renderedOf(reading('b'), reading('a')) };
    expect(() => choosePipeline(sides, { path: '.' })).toThrow(
      'the repository declares several Pipelines: b, a, c',
    );
    expect(choosePipeline(sides, { path: '.', name: 'a' })).toBe('a');
  });

  it('plans for the Pipeline that a commit removes', () => {
    expect(choosePipeline({ from: renderedOf(reading('c')), to: renderedOf() }, { path: '.' })).toBe('c');
  });
});
