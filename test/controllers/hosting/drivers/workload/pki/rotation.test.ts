import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { serverAuthority } from '../../../../../../src/controllers/hosting/drivers/authorities/keys.ts';
import {
  newRotation,
  type RotationState,
} from '../../../../../../src/controllers/hosting/drivers/authorities/record.ts';
import type { RotationPhase } from '../../../../../../src/controllers/hosting/drivers/rotation.ts';
import {
  completeKeys,
  digestsOf,
  KEY_FILES,
  type KeyFiles,
  type KeyRequest,
  reportKeys,
  trustedFile,
} from '../../../../../../src/controllers/hosting/drivers/workload/pki/keys.ts';
import {
  keepKeys,
  keptAuthorities,
  keptKeyDigests,
  lostNeededKeys,
  lostPlaneKeys,
  withDerivedKeys,
  withoutKept,
} from '../../../../../../src/controllers/hosting/drivers/workload/pki/rotation.ts';
import { memberFiles } from '../../../../../../src/controllers/hosting/drivers/workload/pki/secrets.ts';
import { createAuthority } from '../../../../../../src/local/pki/certificate.ts';
import { parsePair } from '../../../../../../src/local/pki/inspect.ts';
import { NOW } from '../../../../../support/builders.ts';
import { certificatesIn } from '../../../../../support/hosting/memory-hub-authorities.ts';
import { planeRecord } from '../../../../../support/hosting/workload.ts';

const REQUEST: KeyRequest = {
  cluster: 'ci',
  settings: planeRecord().settings,
  apiServerNames: ['10.0.0.3'],
  etcdNames: ['10.0.0.2'],
  now: NOW,
};
const MADE = { id: '2026', now: NOW };
const foreign = createAuthority('foreign', NOW, 3650);
const FOREIGN = foreign.certPem + foreign.keyPem;
const before = completeKeys({}, REQUEST);
const kept = keepKeys(before, MADE);
const keys = keptKeyDigests(kept);

function rotation(phase: RotationPhase): RotationState {
  return { ...newRotation('2026'), phase, isApplied: true, keys };
}

/** The files as hosting writes them in the phase. */
function inPhase(phase: RotationPhase, files: KeyFiles = kept): KeyFiles {
  const state = rotation(phase);
  return completeKeys(withDerivedKeys(files, state), { ...REQUEST, server: serverAuthority(state) });
}

/** Returns for each certificate whether the former or the new authority is it, or has signed it. */
function agesOf(text: string | undefined): string {
  const former = new X509Certificate(before[KEY_FILES.ca] ?? '');
  const ages = certificatesIn(text).map((pem) => {
    const certificate = new X509Certificate(pem);
    return certificate.verify(former.publicKey) ? 'old' : 'new';
  });
  return ages.join('+');
}

describe('the keys of a control plane of pods in a rotation', () => {
  it.each([
    { phase: 'TrustBoth', trusted: 'old+new', issued: 'old', served: 'old' },
    { phase: 'IssueNew', trusted: 'new+old', issued: 'new', served: 'old' },
    { phase: 'ServeNew', trusted: 'new+old', issued: 'new', served: 'new' },
    { phase: 'TrustNew', trusted: 'new', issued: 'new', served: 'new' },
    { phase: 'TrustOld', trusted: 'old', issued: 'old', served: 'old' },
  ] as const)(
    'HOS-22 reach each member in $phase: trusted are $trusted, and issued is by $issued',
    ({ phase, trusted, issued, served }) => {
      const files = inPhase(phase);
      const all = memberFiles(files, 'https://10.0.0.3:6443');
      const {
        'kube-apiserver': server,
        'kube-controller-manager': manager,
        'kube-scheduler': scheduler,
      } = all;
      expect([server, manager, scheduler].map((each) => agesOf(each?.['ca.crt']))).toEqual([
        trusted,
        trusted,
        trusted,
      ]);
      expect([server?.['kubelet-client.pem'], scheduler?.['scheduler.pem']].map(agesOf)).toEqual([
        issued,
        issued,
      ]);
      expect(
        [server?.['apiserver.pem'], manager?.['serving.pem'], scheduler?.['serving.pem']].map(agesOf),
      ).toEqual([served, served, served]);
      // The controller manager signs the certificates of nodes.
      expect(agesOf(manager?.['ca.pem'])).toBe(issued);
      const due = reportKeys(files, { ...REQUEST, server: serverAuthority(rotation(phase)) });
      expect(due.flatMap((each) => (each.due === undefined ? [] : [each.name]))).toEqual([]);
      expect(inPhase(phase, files)).toEqual(files);
    },
  );

  it('HOS-22 sign tokens with the first key, and accept those of both', () => {
    const former = before[KEY_FILES['service-accounts']] ?? '';
    const both = inPhase('TrustBoth')[KEY_FILES['service-accounts']] ?? '';
    const issued = inPhase('IssueNew')[KEY_FILES['service-accounts']] ?? '';
    expect([both.startsWith(former), issued.endsWith(former), both.length === issued.length]).toEqual([
      true,
      true,
      true,
    ]);
    expect(inPhase('TrustNew')[KEY_FILES['service-accounts']]).not.toContain(former);
  });

  it('HOS-20 are mounted by no pod while they are kept', () => {
    const mounted = JSON.stringify(memberFiles(inPhase('IssueNew'), 'https://10.0.0.3:6443'));
    const found = Object.keys(kept).filter((name) => {
      const [key = ''] = /-----BEGIN (?:EC )?PRIVATE KEY-----[^-]+/.exec(kept[name] ?? '') ?? [];
      return /\.(old|new)\./.test(name) && mounted.includes(JSON.stringify(key).slice(1, -1));
    });
    // The key that signs and the keys of tokens are those of the controller manager and the API server.
    expect(found.toSorted()).toEqual(['cluster.ca.new.pem', 'cluster.sa.new.key', 'cluster.sa.old.key']);
  });

  it('HOS-22 are made once: a process that finds them uses them, and makes others of one that was not kept', () => {
    expect(keepKeys(kept, { ...MADE, now: new Date(+NOW + 1000) })).toBe(kept);
    const { 'cluster.ca.new.pem': _, ...part } = kept;
    const again = keepKeys(part, MADE);
    const changed = Object.keys(again).filter((name) => again[name] !== kept[name]);
    expect(changed).toEqual(['cluster.ca.new.pem']);
  });

  it('HOS-22 are those of the control plane when it is over, and nothing is kept', () => {
    for (const [phase, digests] of [
      ['TrustNew', keys.new],
      ['TrustOld', keys.old],
    ] as const) {
      const over = withoutKept(inPhase(phase));
      expect([digestsOf(over), Object.keys(over).toSorted()]).toEqual([
        digests,
        Object.keys(before).toSorted(),
      ]);
      // Killed before the end was recorded, hosting derives the same from them.
      expect(withDerivedKeys(over, rotation(phase))[KEY_FILES.ca]).toBe(over[KEY_FILES.ca]);
    }
  });

  it('HOS-20 are lost when one that is trusted is missing or another one, and only then', () => {
    const record = (phase: RotationPhase) => ({
      ...planeRecord(),
      keys: keys.old,
      rotation: rotation(phase),
    });
    const { 'cluster.ca.old.pem': _, ...withoutOld } = inPhase('IssueNew');
    expect(lostPlaneKeys(inPhase('IssueNew'), record('IssueNew'))).toEqual([]);
    expect(lostPlaneKeys(withoutOld, record('IssueNew'))).toEqual([
      'cluster.ca.old.pem is missing, damaged or another one',
    ]);
    expect(lostPlaneKeys(withoutOld, record('TrustNew'))).toEqual([]);
    // What members read is derived again.
    const { [KEY_FILES.ca]: removed, ...derivable } = inPhase('IssueNew');
    expect(lostPlaneKeys(derivable, record('IssueNew'))).toEqual([]);
    expect(withDerivedKeys(derivable, rotation('IssueNew'))[KEY_FILES.ca]).toBe(removed);
  });

  it.each([
    ['cluster.ca.new.pem', 'ca', FOREIGN],
    ['cluster.ca.new.pem', 'ca', 'damaged'],
    ['cluster.sa.new.key', 'service-accounts', 'damaged'],
    ['cluster.sa.old.key', 'service-accounts', 'damaged'],
  ] as const)('HOS-20 are used only as they are recorded: %s of %s is another one', (file, name, text) => {
    const good = inPhase('IssueNew');
    const files = { ...good, [file]: text };
    const record = { ...planeRecord(), keys: keys.old, rotation: rotation('IssueNew') };
    expect(lostPlaneKeys(files, record)).toEqual([]);
    const next = withDerivedKeys(files, rotation('ServeNew'));
    expect([next[file], digestsOf(next)[name]]).toEqual([kept[file], keys.new[name]]);
    expect(next).toEqual(withDerivedKeys(good, rotation('ServeNew')));
  });

  it('HOS-20 are lost when a kept one and what members read are another one', () => {
    const files = { ...inPhase('IssueNew'), 'cluster.ca.new.pem': FOREIGN, [KEY_FILES.ca]: FOREIGN };
    const record = { ...planeRecord(), keys: keys.old, rotation: rotation('IssueNew') };
    expect(lostPlaneKeys(files, record)).toEqual(['cluster.ca.new.pem is missing, damaged or another one']);
    expect(keptAuthorities(files, 'ca', keys).new).toBeUndefined();
    expect(withDerivedKeys(files, rotation('IssueNew'))[trustedFile('ca')]).not.toContain(foreign.certPem);
  });

  it('HOS-22 sign by the recorded authority, also where another one is in its file', () => {
    const files = { ...inPhase('IssueNew'), 'cluster.ca.new.pem': FOREIGN };
    expect(keptAuthorities(files, 'ca', keys)).toEqual(keptAuthorities(inPhase('IssueNew'), 'ca', keys));
  });

  it.each(['ServeNew', 'TrustBoth'] as const)(
    'HOS-20 trust one authority and sign with one key without a rotation: files of %s are back',
    (phase) => {
      const rotated = { ...rotation('Completed'), isEnding: true };
      const files: KeyFiles = { ...inPhase(phase), 'etcd.ca.crt': foreign.certPem };
      const first = parsePair(files[KEY_FILES.ca])?.certPem;
      for (const state of [undefined, rotated]) {
        const server = memberFiles(withDerivedKeys(files, state), 'https://10.0.0.3:6443')['kube-apiserver'];
        expect([server?.['ca.crt'], server?.['sa.key']?.match(/BEGIN [A-Z ]*PRIVATE/g)?.length]).toEqual([
          first,
          1,
        ]);
      }
    },
  );

  it('HOS-22 are not needed to take a rotation back before they issued anything', () => {
    const { 'cluster.front-proxy-ca.new.pem': _, ...files } = inPhase('TrustBoth');
    const lost = ['cluster.front-proxy-ca.new.pem is missing, damaged or another one'];
    const unused = { ...planeRecord(), keys: keys.old, rotation: rotation('TrustBoth') };
    expect([lostPlaneKeys(files, unused), lostNeededKeys(files, unused)]).toEqual([lost, []]);
    const used = { ...unused, rotation: { ...rotation('TrustBoth'), hasIssued: true } };
    expect(lostNeededKeys(files, used)).toEqual(lost);
  });
});
