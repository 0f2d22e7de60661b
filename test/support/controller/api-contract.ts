/**
 * What controllers rely upon in an API server. It runs over the in-memory one and over a real one: a difference between
 * the two fails one of them.
 */
import { describe, expect, it } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import { isUnchanged } from '../../../src/kube/controller/writes/unchanged.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { WIDGETS, type Widget, widget } from './widgets.ts';

const OURS = { fieldManager: 'ours' };
const THEIRS = { fieldManager: 'theirs' };
const STATUS = { ...OURS, subresource: 'status' };
const READY = { type: 'Ready', status: 'True' };

type Json = Readonly<Record<string, unknown>>;

export function describeApiContract(name: string, connect: () => Client): void {
  let count = 0;
  const fresh = (): string => {
    count += 1;
    return `w-${count}`;
  };
  const apply = (object: string, spec: Json, options: object = OURS): Promise<Widget> =>
    connect().apply<Widget>(WIDGETS, { ...widget(object), spec }, options as typeof OURS);
  const applyStatus = (object: string, status: Json): Promise<Widget> =>
    connect().apply<Widget>(WIDGETS, { ...empty(object), status }, STATUS);

  describe(`${name}: server-side apply`, () => {
    it('creates an object that is not there, with a uid, a version and generation 1', async () => {
      const { metadata, spec } = await apply(fresh(), { size: 1 });
      expect(metadata).toMatchObject({ generation: 1 });
      expect([typeof metadata.uid, typeof metadata.resourceVersion, spec]).toEqual([
        'string',
        'string',
        { size: 1 },
      ]);
    });

    it('changes no version when it changes nothing', async () => {
      const object = fresh();
      const first = await apply(object, { size: 1, parts: [{ name: 'a', grade: 'x' }] });
      const again = await apply(object, { size: 1, parts: [{ name: 'a', grade: 'x' }] });
      expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    });

    it('removes what its manager no longer sends, and leaves what others own', async () => {
      const object = fresh();
      await apply(object, { size: 1, owner: 'us', tags: ['a', 'b'] });
      await apply(object, { args: ['x'], tags: ['c'] }, THEIRS);
      const { spec } = await apply(object, { size: 2, tags: ['b'] });
      expect(spec).toEqual({ size: 2, args: ['x'], tags: ['b', 'c'] });
    });

    it('merges lists by key, and removes entries that it no longer sends', async () => {
      const object = fresh();
      await apply(object, { parts: [{ name: 'a', grade: 'x' }, { name: 'b' }] });
      await apply(object, { parts: [{ name: 'c' }] }, THEIRS);
      const { spec } = await apply(object, { parts: [{ name: 'a', grade: 'y' }] });
      expect(spec.parts).toEqual([{ name: 'a', grade: 'y' }, { name: 'c' }]);
    });

    it('conflicts about a value of another manager, unless it is forced, which takes it over', async () => {
      const object = fresh();
      await apply(object, { size: 1 }, THEIRS);
      expect(await codeOf(apply(object, { size: 2 }))).toBe('Conflict');
      await apply(object, { size: 2 }, { ...OURS, force: true });
      expect(await codeOf(apply(object, { size: 3 }, THEIRS))).toBe('Conflict');
    });

    it('shares a value that is the same: it stays until the last manager lets it go', async () => {
      const object = fresh();
      await apply(object, { size: 1 }, THEIRS);
      await apply(object, { size: 1 });
      expect((await apply(object, {}, THEIRS)).spec).toEqual({ size: 1 });
    });

    it('creates nothing with the uid of an object that was deleted', async () => {
      const object = fresh();
      const { metadata } = await apply(object, { size: 1 });
      await connect().delete(WIDGETS, { name: object }, { uid: metadata.uid ?? '' });
      const intent = { ...widget(object, { size: 2 }), metadata: { name: object, uid: metadata.uid ?? '' } };
      expect(await codeOf(connect().apply(WIDGETS, intent, OURS))).toBe('Conflict');
      expect(await codeOf(connect().get(WIDGETS, { name: object }))).toBe('NotFound');
    });

    it('refuses a version that is not the present one', async () => {
      const object = fresh();
      const { metadata } = await apply(object, { size: 1 });
      await apply(object, { size: 2 });
      const intent = {
        ...widget(object, { size: 3 }),
        metadata: { name: object, resourceVersion: metadata.resourceVersion ?? '' },
      };
      expect(await codeOf(connect().apply(WIDGETS, intent, OURS))).toBe('Conflict');
    });

    it('records managedFields from which an unchanged intent is recognized', async () => {
      const object = fresh();
      const spec = { size: 1, args: ['x'], tags: ['b', 'a'], parts: [{ name: 'a', grade: 'x' }] };
      const live = await apply(object, spec);
      const same = (change: Json): boolean =>
        isUnchanged({ ...widget(object), spec: { ...spec, ...change } }, live, OURS);
      expect([same({}), same({ size: 2 }), same({ owner: 'us' }), same({ parts: [{ name: 'a' }] })]).toEqual([
        true,
        false,
        false,
        false,
      ]);
    });
  });

  describe(`${name}: the status`, () => {
    it('is written by its subresource only, and without a new generation', async () => {
      const object = fresh();
      await connect().apply(WIDGETS, { ...widget(object, { size: 1 }), status: { phase: 'x' } }, OURS);
      const live = await applyStatus(object, { phase: 'y', conditions: [READY] });
      expect(live).toMatchObject({ spec: { size: 1 }, status: { phase: 'y', conditions: [READY] } });
      expect(live.metadata.generation).toBe(1);
      expect(
        isUnchanged({ ...empty(object), status: { phase: 'y', conditions: [READY] } }, live, STATUS),
      ).toBe(true);
      const again = await apply(object, { size: 2 });
      expect([again.metadata.generation, again.status]).toEqual([2, { phase: 'y', conditions: [READY] }]);
    });

    it('is not found where the object is not', async () => {
      expect(await codeOf(applyStatus(fresh(), { phase: 'x' }))).toBe('NotFound');
    });
  });

  describe(`${name}: patches`, () => {
    it('hold when their tests hold, and are Invalid and without effect when one fails', async () => {
      const object = fresh();
      const { metadata } = await apply(object, { size: 1, tags: ['a'] });
      const patch = (uid: string, size: number): Promise<Widget> =>
        connect().patch<Widget>(
          WIDGETS,
          { name: object },
          {
            type: 'json',
            body: [
              { op: 'test', path: '/metadata/uid', value: uid },
              { op: 'replace', path: '/spec/size', value: size },
            ],
          },
          OURS,
        );
      expect((await patch(metadata.uid ?? '', 2)).spec.size).toBe(2);
      expect(await codeOf(patch('another', 3))).toBe('Invalid');
      expect((await connect().get<Widget>(WIDGETS, { name: object })).spec.size).toBe(2);
    });

    it('may test the version', async () => {
      const object = fresh();
      const { metadata } = await apply(object, { size: 1 });
      await apply(object, { size: 2 });
      const body = [
        { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
        { op: 'add', path: '/metadata/finalizers', value: ['x.test/ours'] },
      ];
      expect(await codeOf(connect().patch(WIDGETS, { name: object }, { type: 'json', body }))).toBe(
        'Invalid',
      );
    });
  });

  describe(`${name}: create and replace`, () => {
    it('AlreadyExists for a name that is taken', async () => {
      const object = fresh();
      await connect().create(WIDGETS, widget(object));
      expect(await codeOf(connect().create(WIDGETS, widget(object)))).toBe('AlreadyExists');
    });

    it('Conflict for a replace of another version', async () => {
      const first = await connect().create<Widget>(WIDGETS, widget(fresh(), { size: 1 }));
      const second = await connect().replace<Widget>(WIDGETS, { ...first, spec: { size: 2 } });
      expect(second.metadata.generation).toBe(2);
      expect(await codeOf(connect().replace(WIDGETS, { ...first, spec: { size: 3 } }))).toBe('Conflict');
    });
  });

  describe(`${name}: deletion`, () => {
    it('is at once without finalizers, and only of the uid that is named', async () => {
      const object = fresh();
      const { metadata } = await apply(object, {});
      expect(await codeOf(connect().delete(WIDGETS, { name: object }, { uid: 'another' }))).toBe('Conflict');
      expect(await connect().delete(WIDGETS, { name: object }, { uid: metadata.uid ?? '' })).toBeUndefined();
      expect(await codeOf(connect().delete(WIDGETS, { name: object }, { uid: metadata.uid ?? '' }))).toBe(
        'NotFound',
      );
    });

    it('waits for finalizers, takes no new one, and happens with the removal of the last', async () => {
      const object = fresh();
      const { metadata } = await connect().create<Widget>(WIDGETS, {
        ...widget(object),
        metadata: { name: object, finalizers: ['x.test/ours'] },
      });
      const kept = await connect().delete(WIDGETS, { name: object }, { uid: metadata.uid ?? '' });
      expect(kept?.metadata).toMatchObject({ generation: 2, finalizers: ['x.test/ours'] });
      expect(typeof kept?.metadata.deletionTimestamp).toBe('string');
      const patch = (operation: Json): Promise<KubeObject> =>
        connect().patch(WIDGETS, { name: object }, { type: 'json', body: [operation] });
      const add = { op: 'add', path: '/metadata/finalizers/-', value: 'x.test/other' };
      expect(await codeOf(patch(add))).toBe('Invalid');
      await patch({ op: 'remove', path: '/metadata/finalizers/0' });
      expect(await codeOf(connect().get(WIDGETS, { name: object }))).toBe('NotFound');
    });
  });

  describe(`${name}: list and watch`, () => {
    it('delivers each change after the list, once and in order', async () => {
      const object = fresh();
      const { resourceVersion } = await connect().list(WIDGETS);
      const stop = new AbortController();
      const events: string[] = [];
      const watching = (async () => {
        const options = { resourceVersion, timeoutSeconds: 60, signal: stop.signal };
        for await (const { type, object: seen } of connect().watch(WIDGETS, options)) {
          if (type !== 'BOOKMARK') events.push(`${type} ${seen.metadata.name}`);
          if (type === 'DELETED') return;
        }
      })();
      const { metadata } = await apply(object, { size: 1 });
      await apply(object, { size: 1 });
      await apply(object, { size: 2 });
      await connect().delete(WIDGETS, { name: object }, { uid: metadata.uid ?? '' });
      await watching;
      stop.abort();
      expect(events).toEqual([`ADDED ${object}`, `MODIFIED ${object}`, `DELETED ${object}`]);
    });
  });
}

async function codeOf(outcome: Promise<unknown>): Promise<string> {
  const error: unknown = await outcome.then(
    () => 'nothing',
    (caught: unknown) => caught,
  );
  return isKubeError(error) ? error.code : String(error);
}

function empty(name: string): KubeObject {
  return { apiVersion: 'test.kubenode.dev/v1', kind: 'Widget', metadata: { name } };
}
