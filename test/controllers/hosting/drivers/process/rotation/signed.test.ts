/** What a control plane of real files signs for its agents in each phase, judged by an agent that follows all of it. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { decideFollow, type PublishedInput } from '../../../../../../src/agent/authorities/verify.ts';
import { certificatesIn, type SignedAuthorities } from '../../../../../../src/api/authorities/document.ts';
import { planeLayout } from '../../../../../../src/controllers/hosting/drivers/process/folder.ts';
import { preparePlane } from '../../../../../../src/controllers/hosting/drivers/process/preparation/prepare.ts';
import { rotatePlane } from '../../../../../../src/controllers/hosting/drivers/process/rotation/rotate.ts';
import { signAuthorities } from '../../../../../../src/controllers/hosting/drivers/process/rotation/signed.ts';
import type {
  KnownOrders,
  RotationStep,
} from '../../../../../../src/controllers/hosting/drivers/rotation.ts';
import { createSystemClock } from '../../../../../../src/os/system-clock.ts';
import { planeSpec } from '../../../../../support/hosting/objects.ts';
import { tempFolder } from '../../../../../support/temp.ts';

const clock = createSystemClock();
const plane = planeSpec();
type Phase = RotationStep['phase'];

let dir: string;
let trusted: string;
let followed: PublishedInput['followed'];
beforeEach(async () => {
  dir = join(tempFolder('signed'), 'hosting');
  await preparePlane(plane, options());
  trusted = readFileSync(join(root(), 'clusters/ci/pki/ca.crt'), 'utf8');
  followed = undefined;
});

function root(): string {
  return planeLayout(dir, 'ci').root;
}

function options(): Parameters<typeof preparePlane>[1] {
  return { dir, clock, freeBytes: async () => 1e12 };
}

async function rotate(phase: Phase, id = '2026'): Promise<void> {
  await rotatePlane(plane, { id, phase }, options());
}

/** An agent that reads what is signed now. */
function read(found: SignedAuthorities | undefined): string {
  const decision = decideFollow({ published: found && { ...found }, trusted, followed });
  if (decision.type !== 'Follow') return decision.type === 'Refuse' ? `Refuse: ${decision.because}` : 'Keep';
  const { document, text } = decision;
  trusted = document.authorities.join('');
  followed = { cluster: document.cluster, order: document.order, text };
  return `Follow ${document.phase} ${document.order}, ${document.authorities.length} trusted`;
}

async function follow(phase: Phase, id?: string): Promise<string> {
  await rotate(phase, id);
  return read(await signed());
}

const NOTHING: KnownOrders = { reported: [] };

async function signed(known = NOTHING): Promise<SignedAuthorities | undefined> {
  return await signAuthorities(plane, known, options());
}

/** Returns the order, and whether the former and the new authority have signed. */
function signersOf(found: SignedAuthorities | undefined, former: string): readonly string[] {
  const signatures = JSON.parse(found?.signatures ?? '{}') as Readonly<Record<string, string>>;
  return Object.keys(signatures).map((each) => (each === former ? 'former' : 'new'));
}

describe('the authorities that hosting signs', () => {
  it('HOS-22 signs no phase that another process has entered since the observation', async () => {
    await rotate('TrustBoth');
    const first = await signed();
    await rotate('IssueNew');
    const observed = { rotation: { id: '2026', phase: 'TrustBoth' as const, sequence: 1 } };
    expect(await signed({ reported: [], observed })).toEqual(first);
    expect(await signed()).not.toEqual(first);
  });

  it('HOS-22 signs nothing before the first rotation', async () => {
    expect(await signed()).toBeUndefined();
  });

  it('HOS-22 takes an agent through a whole rotation, and keeps what it signed last', async () => {
    const phases: readonly Phase[] = ['TrustBoth', 'IssueNew', 'ServeNew', 'TrustNew'];
    const found: string[] = [];
    for (const phase of phases) found.push(await follow(phase));
    expect(found).toEqual([
      'Follow TrustBoth 1, 2 trusted',
      'Follow IssueNew 2, 2 trusted',
      'Follow ServeNew 3, 2 trusted',
      'Follow TrustNew 4, 1 trusted',
    ]);
    expect(await follow('Completed')).toBe('Keep');
    expect(await follow('TrustBoth', '2027')).toBe('Follow TrustBoth 5, 2 trusted');
  });

  it('HOS-22 takes an agent back to the former authority, by documents of a higher order', async () => {
    const found: string[] = [];
    for (const phase of ['TrustBoth', 'IssueNew'] as const) found.push(await follow(phase));
    const issueNew = await signed();
    for (const phase of ['TrustBoth', 'TrustOld'] as const) found.push(await follow(phase));
    expect(found.slice(2)).toEqual(['Follow TrustBoth 3, 2 trusted', 'Follow TrustOld 4, 1 trusted']);
    expect(await follow('Aborted')).toBe('Keep');
    // The document of the phase before is signed as well, and would bring the authority back.
    expect(read(issueNew)).toBe('Refuse: it is older: its order is 2, and this host follows 4');
    expect(await follow('TrustBoth', '2027')).toBe('Follow TrustBoth 5, 2 trusted');
  });

  it('HOS-22 signs a phase once, and none whose files are not written', async () => {
    await rotate('TrustBoth');
    const first = await signed();
    expect(await signed()).toEqual(first);
    expect(first).toMatchObject({ rotation: '2026', phase: 'TrustBoth' });
    const record = join(root(), 'rotation.json');
    const text = readFileSync(record, 'utf8');
    const entered = { ...(JSON.parse(text) as object), phase: 'IssueNew', sequence: 2, isApplied: false };
    writeFileSync(record, JSON.stringify(entered));
    expect(await signed()).toEqual(first);
  });

  it('HOS-22 refuses a record that is damaged, because its order would begin again', async () => {
    await follow('TrustBoth');
    writeFileSync(join(root(), 'authorities.json'), '{"order": 0}');
    await expect(signed()).rejects.toThrow('authorities.json');
  });

  it('HOS-22 signs with the former authority as long as it is trusted, and then with the new one alone', async () => {
    const [former = ''] = certificatesIn(trusted).keys();
    const found: unknown[] = [];
    for (const phase of ['TrustBoth', 'IssueNew', 'ServeNew', 'TrustNew'] as const) {
      await rotate(phase);
      found.push([phase, ...signersOf(await signed(), former)]);
    }
    expect(found).toEqual([
      ['TrustBoth', 'former'],
      ['IssueNew', 'former'],
      ['ServeNew', 'former'],
      ['TrustNew', 'new'],
    ]);
  });

  it('HOS-22 gives a host that trusts only the new authority no document before, also without its record', async () => {
    const before: (SignedAuthorities | undefined)[] = [];
    for (const phase of ['TrustBoth', 'IssueNew', 'ServeNew'] as const) {
      await rotate(phase);
      before.push(await signed());
      read(before.at(-1));
    }
    expect(await follow('TrustNew')).toBe('Follow TrustNew 4, 1 trusted');
    followed = undefined;
    for (const each of before) expect(read(each)).toMatch(/^Refuse: no authority that this host trusts/);
  });

  it('HOS-22 signs the end of a rotation that ended without it', async () => {
    for (const phase of ['TrustBoth', 'IssueNew', 'ServeNew'] as const) await follow(phase);
    await rotate('TrustNew');
    await rotate('Completed');
    expect(read(await signed())).toBe('Follow TrustNew 4, 1 trusted');
    expect(read(await signed())).toBe('Keep');
  });

  it('HOS-22 signs the end of a rotation that was taken back without it', async () => {
    for (const phase of ['TrustBoth', 'IssueNew', 'TrustBoth'] as const) await follow(phase);
    await rotate('TrustOld');
    await rotate('Aborted');
    expect(read(await signed())).toBe('Follow TrustOld 4, 1 trusted');
    expect(read(await signed())).toBe('Keep');
  });

  it('HOS-22 signs nothing for a rotation that an earlier version has completed', async () => {
    for (const phase of ['TrustBoth', 'IssueNew', 'ServeNew', 'TrustNew', 'Completed'] as const) {
      await rotate(phase);
    }
    expect(await signed()).toBeUndefined();
  });

  it('HOS-22 never begins its order again, when its record is that of a backup or missing', async () => {
    await follow('TrustBoth');
    const record = join(root(), 'authorities.json');
    const backup = readFileSync(record, 'utf8');
    await follow('IssueNew');
    const published = await signed();
    writeFileSync(record, backup);
    expect(read(await signed({ published, reported: [] }))).toBe('Follow IssueNew 3, 2 trusted');
    rmSync(record);
    expect(read(await signed({ reported: [3, Number.MAX_SAFE_INTEGER] }))).toBe(
      'Follow IssueNew 4, 2 trusted',
    );
    const forged = {
      ...published,
      document: String(published?.document).replace('"order":2', '"order":2000'),
    };
    const before = await signed();
    expect(await signed({ published: forged as SignedAuthorities, reported: [] })).toEqual(before);
  });

  it('HOS-22 signs again with a higher order, when agents find a later document of its own than its record', async () => {
    await follow('TrustBoth');
    const record = join(root(), 'authorities.json');
    const backup = readFileSync(record, 'utf8');
    rmSync(record);
    const later = await signed({ reported: [8] });
    expect(read(later)).toBe('Follow TrustBoth 9, 2 trusted');
    writeFileSync(record, backup);
    expect(read(await signed({ published: later, reported: [] }))).toBe('Follow TrustBoth 10, 2 trusted');
  });
});
