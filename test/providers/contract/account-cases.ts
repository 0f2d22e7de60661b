/** What happens in the account of a cloud behind the back of its provider: credentials expire, and people delete and copy instances. */
import { describe, expect, it } from 'vitest';
import { instanceOf, type OpenCase } from './case.ts';
import { CLUSTER, type CloudAccount, type ContractProvider, NEVER, requestOf } from './harness.ts';

export function describeAccount(open: OpenCase, { withoutAccount }: ContractProvider): void {
  if (withoutAccount === undefined) describeOthers(open);
  else describeNoAccount(open, withoutAccount);
}

/** The report contains the reason, so that no case is left out in silence. */
function describeNoAccount(open: OpenCase, reason: string): void {
  it(`has no account: ${reason}`, () => {
    expect(open().harness.account).toBeUndefined();
  });
}

function describeOthers(open: OpenCase): void {
  describe('has credentials that expire', () => {
    describeExpiry(open);
  });
  describe('has an instance that was deleted by hand, and', () => {
    describeHand(open);
  });
  describe('has a second instance with the tags of one Machine, and', () => {
    describeCopy(open);
  });
}

type Account = ReturnType<OpenCase> & { readonly account: CloudAccount };

function openAccount(open: OpenCase): Account {
  const one = open();
  const { account } = one.harness;
  if (!account) throw new Error('the harness has no account');
  return { ...one, account };
}

function describeExpiry(open: OpenCase): void {
  it('in the middle of a creation: nothing is created, and one instance with new ones', async () => {
    const one = openAccount(open);
    const request = requestOf(one.shape);
    const { machineUid } = request.tags;
    const renew = one.account.expire(['create']);
    await expect(one.provider.create(request, NEVER)).rejects.toMatchObject({ code: 'Auth' });
    expect(await one.harness.countHosts(machineUid)).toBe(0);
    renew();
    await one.provider.create(request, NEVER);
    expect(await one.harness.countHosts(machineUid)).toBe(1);
  });

  it('after a creation whose answer was lost: its instance is neither created again nor forgotten', async () => {
    const one = openAccount(open);
    const request = requestOf(one.shape);
    const { machineUid } = request.tags;
    await one.harness.inject('AnswerLost', 'create');
    await expect(one.provider.create(request, NEVER)).rejects.toMatchObject({ code: 'Ambiguous' });
    const renew = one.account.expire(['create', 'get', 'find']);
    const filter = { clusterUid: CLUSTER, machineUid };
    await expect(one.provider.find(filter, NEVER)).rejects.toMatchObject({ code: 'Auth' });
    await expect(one.provider.create(request, NEVER)).rejects.toMatchObject({ code: 'Auth' });
    renew();
    const id = await one.provider.create(request, NEVER);
    expect((await one.provider.find(filter, NEVER)).map((each) => each.id)).toEqual([id]);
    expect(await one.harness.countHosts(machineUid)).toBe(1);
  });

  it('in the middle of a deletion: the instance stays, and is deleted with new ones', async () => {
    const one = openAccount(open);
    const { id, uid } = await one.create();
    const renew = one.account.expire(['delete']);
    await expect(one.provider.delete(id, NEVER)).rejects.toMatchObject({ code: 'Auth' });
    expect(await one.harness.countHosts(uid)).toBe(1);
    renew();
    await one.provider.delete(id, NEVER);
    expect([await one.harness.countHosts(uid), await one.provider.get(id, NEVER)]).toEqual([0, undefined]);
  });

  it('after a deletion whose answer was lost: it is not taken for deleted before that is known', async () => {
    const one = openAccount(open);
    const { id } = await one.create();
    await one.harness.inject('AnswerLost', 'delete');
    await expect(one.provider.delete(id, NEVER)).rejects.toMatchObject({ code: 'Retryable' });
    const renew = one.account.expire(['delete', 'get', 'find']);
    await expect(one.provider.delete(id, NEVER)).rejects.toMatchObject({ code: 'Auth' });
    await expect(one.provider.get(id, NEVER)).rejects.toMatchObject({ code: 'Auth' });
    renew();
    await expect(one.provider.delete(id, NEVER)).resolves.toBeUndefined();
    expect(await one.provider.get(id, NEVER)).toBeUndefined();
  });

  it('while instances are listed: nothing is found rather than less', async () => {
    const one = openAccount(open);
    const { id } = await one.create();
    const renew = one.account.expire(['get', 'find']);
    const filter = { clusterUid: CLUSTER };
    await expect(one.provider.find(filter, NEVER)).rejects.toMatchObject({ code: 'Auth' });
    renew();
    expect((await one.provider.find(filter, NEVER)).map((each) => each.id)).toEqual([id]);
  });
}

function describeHand(open: OpenCase): void {
  it('finds it no more, and deletes it without an error', async () => {
    const one = openAccount(open);
    const [kept, removed] = [await one.create(), await one.create()];
    await one.account.removeByHand(removed.uid);
    expect(await one.provider.get(removed.id, NEVER)).toBeUndefined();
    const found = await one.provider.find({ clusterUid: CLUSTER }, NEVER);
    expect(found.map(({ id }) => id)).toEqual([kept.id]);
    await expect(one.provider.delete(removed.id, NEVER)).resolves.toBeUndefined();
    expect((await instanceOf(one, kept.id)).state).toBe('Running');
  });

  it('has no power for it', async () => {
    const one = openAccount(open);
    const { id, uid } = await one.create();
    await one.account.removeByHand(uid);
    await expect(one.provider.power(id, 'on', NEVER)).rejects.toMatchObject({ code: 'NotFound' });
  });

  it('has at most one instance for its Machine, also when two processes create at once', async () => {
    const one = openAccount(open);
    const { id, uid, request } = await one.create();
    await one.account.removeByHand(uid);
    const other = await one.harness.reopen();
    const created = await Promise.allSettled(
      [one.provider, other].map((provider) => provider.create(request, NEVER)),
    );
    expect(await one.harness.countHosts(uid)).toBeLessThanOrEqual(1);
    const refused = created.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    expect(refused).toEqual(refused.map(() => expect.objectContaining({ reason: 'Deleted' }) as unknown));
    await one.provider.delete(id, NEVER);
    expect(await one.harness.countHosts(uid)).toBe(0);
  });
}

function describeCopy(open: OpenCase): void {
  it('creates no third, and takes none of both for another Machine', async () => {
    const one = openAccount(open);
    const { id, uid, request } = await one.create();
    await one.account.copyByHand(uid);
    const created = await one.provider.create(request, NEVER).catch((error: unknown) => error);
    // What is found by its name is told apart. Where tags decide, it is not known which of both has the host.
    const named: unknown = expect.objectContaining({ reason: 'DuplicateInstances' });
    expect(created).toEqual(one.account.copies === 'Named' ? named : id);
    expect(await one.harness.countHosts(uid)).toBe(2);
  });

  it('lists both where tags decide, and never deletes one in place of the other', async () => {
    const one = openAccount(open);
    const { id, uid, request } = await one.create();
    await one.account.copyByHand(uid);
    const found = await one.provider.find(request.tags, NEVER);
    expect(found).toHaveLength(one.account.copies === 'Named' ? 2 : 1);
    await one.provider.delete(id, NEVER);
    expect(await one.harness.countHosts(uid)).toBe(1);
    expect(await one.provider.get(id, NEVER)).toBeUndefined();
  });
}
