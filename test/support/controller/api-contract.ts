/**
 * What controllers rely upon in an API server. It runs over the one in memory, over the client of the simulator and over a real one: a
 * difference between them fails one of them.
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

export type ContractClient = Pick<Client, 'apply' | 'create' | 'delete' | 'get' | 'patch' | 'replace'>;

/** Returns what a watch of Widgets delivers while this runs, up to the first deletion: `ADDED a`. */
export type EventsDuring = (act: () => Promise<void>) => Promise<readonly string[]>;

export function describeApiContract(
  name: string,
  connect: () => ContractClient,
  eventsDuring: EventsDuring,
): void {
  let count = 0;
  const fresh = (): string => {
    count += 1;
    return `w-${count}`;
  };
  const apply = (object: string, spec: Json, options: object = OURS): Promise<Widget> =>
    connect().apply<Widget>(WIDGETS, { ...widget(object), spec }, options as typeof OURS);
  const applyStatus = (object: string, status: Json): Promise<Widget> =>
    connect().apply<Widget>(WIDGETS, { ...empty(object), status }, STATUS);
  const patchAs = (object: string, body: readonly Json[]): Promise<Widget> =>
    connect().patch<Widget>(WIDGETS, { name: object }, { type: 'json', body }, THEIRS);
  const create = (object: string, finalizers: readonly string[] = []): Promise<Widget> =>
    connect().create<Widget>(WIDGETS, {
      ...widget(object, { size: 1 }),
      metadata: { name: object, finalizers },
    });
  const read = (object: string): Promise<Widget> => connect().get<Widget>(WIDGETS, { name: object });

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

    it('removes an entry that its manager no longer sends with what others have set in it', async () => {
      const object = fresh();
      await apply(object, { parts: [{ name: 'a' }, { name: 'b' }] });
      await patchAs(object, [{ op: 'add', path: '/spec/parts/0/grade', value: 'x' }]);
      const { spec, metadata } = await apply(object, { parts: [{ name: 'b' }] });
      expect(spec.parts).toEqual([{ name: 'b' }]);
      expect(metadata.managedFields?.map(({ manager }) => manager)).toEqual(['ours']);
    });

    it.each([
      ['it applies others', { size: 1 }],
      ['it applies an empty list', { size: 1, parts: [] }],
    ])('removes a list with its last entry when %s', async (_, spec) => {
      const object = fresh();
      await apply(object, { parts: [{ name: 'a' }, { name: 'b' }] });
      expect((await apply(object, spec)).spec).toEqual({ size: 1 });
    });

    it('changes no version when two managers apply in turn what is there', async () => {
      const object = fresh();
      await apply(object, { size: 1 });
      const { metadata } = await apply(object, { owner: 'us' }, THEIRS);
      await apply(object, { size: 1 });
      const last = await apply(object, { owner: 'us' }, THEIRS);
      expect(last.metadata.resourceVersion).toBe(metadata.resourceVersion);
    });

    it('conflicts about a value that a patch has set, and whose removal took it from its owner', async () => {
      const object = fresh();
      const first = await apply(object, { size: 1, owner: 'us' });
      const patched = await patchAs(object, [
        { op: 'replace', path: '/spec/size', value: 2 },
        { op: 'remove', path: '/spec/owner' },
      ]);
      expect(isUnchanged({ ...widget(object), spec: first.spec }, patched, OURS)).toBe(false);
      expect(await codeOf(apply(object, { size: 1 }))).toBe('Conflict');
      expect((await apply(object, { owner: 'them' })).spec).toEqual({ size: 2, owner: 'them' });
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

    it('is changed by no create, replace or patch of the object', async () => {
      const object = fresh();
      const status = { phase: 'x' };
      const created = await connect().create<Widget>(WIDGETS, { ...widget(object, { size: 1 }), status });
      expect(created.status).toBeUndefined();
      await applyStatus(object, { phase: 'y' });
      const live = await read(object);
      const { metadata, spec, apiVersion, kind } = live;
      expect(await connect().replace(WIDGETS, { apiVersion, kind, metadata, spec, status })).toEqual(live);
      const replaced = await patchAs(object, [{ op: 'replace', path: '/status/phase', value: 'z' }]);
      expect([replaced.status, replaced.metadata.generation]).toEqual([{ phase: 'y' }, 1]);
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

    it.each<Json>([
      { op: 'remove', path: '/spec/owner' },
      { op: 'replace', path: '/spec/tags/0', value: 'us' },
      { op: 'test', path: '/spec/owner', value: 'us' },
      { op: 'add', path: '/metadata/annotations/a', value: 'b' },
      { op: 'add', path: '/spec/tags/1', value: 'b' },
      { op: 'remove', path: '/spec/tags/0' },
    ])('are Invalid where the path is missing: %j', async (operation) => {
      const object = fresh();
      const { metadata } = await apply(object, { size: 1, tags: [] });
      expect(await codeOf(patchAs(object, [operation]))).toBe('Invalid');
      expect((await read(object)).metadata.resourceVersion).toBe(metadata.resourceVersion);
    });

    it('may test that nothing is there, and replace what is missing', async () => {
      const object = fresh();
      await apply(object, { size: 1 });
      const { spec } = await patchAs(object, [
        { op: 'test', path: '/spec/owner', value: null },
        { op: 'replace', path: '/spec/owner', value: 'us' },
      ]);
      expect(spec).toEqual({ size: 1, owner: 'us' });
    });

    it('give a new generation for the spec, and none for labels', async () => {
      const object = fresh();
      await apply(object, { size: 1 });
      const labeled = await patchAs(object, [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }]);
      const sized = await patchAs(object, [{ op: 'add', path: '/spec/tags', value: ['a'] }]);
      expect([labeled.metadata.generation, sized.metadata.generation]).toEqual([1, 2]);
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

    it('is refused for another version', async () => {
      const object = fresh();
      const { metadata } = await apply(object, { size: 1 });
      await apply(object, { size: 2 });
      const { uid = '', resourceVersion = '' } = metadata;
      expect(await codeOf(connect().delete(WIDGETS, { name: object }, { uid, resourceVersion }))).toBe(
        'Conflict',
      );
      expect((await read(object)).metadata.uid).toBe(uid);
    });

    it('once begun, is not taken back by a replace, and not begun again', async () => {
      const object = fresh();
      const { uid = '' } = (await create(object, ['x.test/ours'])).metadata;
      const kept = await connect().delete(WIDGETS, { name: object }, { uid });
      const again = await connect().delete(WIDGETS, { name: object }, { uid });
      expect(again?.metadata.resourceVersion).toBe(kept?.metadata.resourceVersion);
      const { deletionTimestamp, ...metadata } = (await read(object)).metadata;
      const replaced = await connect().replace(WIDGETS, { ...widget(object, { size: 2 }), metadata });
      expect(replaced.metadata).toMatchObject({ deletionTimestamp, generation: 3 });
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
    it('delivers each change after the list, once and in order, and no write that changes nothing', async () => {
      const object = fresh();
      const events = await eventsDuring(async () => {
        const { metadata } = await apply(object, { size: 1 });
        await apply(object, { size: 1 });
        await patchAs(object, [{ op: 'replace', path: '/spec/size', value: 1 }]);
        await apply(object, { size: 2 });
        await connect().delete(WIDGETS, { name: object }, { uid: metadata.uid ?? '' });
      });
      expect(events).toEqual([`ADDED ${object}`, `MODIFIED ${object}`, `DELETED ${object}`]);
    });
  });
}

export async function watchedEvents(client: Client, act: () => Promise<void>): Promise<readonly string[]> {
  const { resourceVersion } = await client.list(WIDGETS);
  const watching = (async () => {
    const events: string[] = [];
    for await (const { type, object } of client.watch(WIDGETS, { resourceVersion, timeoutSeconds: 60 })) {
      if (type !== 'BOOKMARK') events.push(`${type} ${object.metadata.name}`);
      if (type === 'DELETED') break;
    }
    return events;
  })();
  await act();
  return await watching;
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
