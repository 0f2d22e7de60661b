import { describe, expect, it } from 'vitest';
import {
  outdatedRevisions,
  readRevision,
  storedRevision,
} from '../../../../src/controllers/componentset/revision/stored-revisions.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { componentSet } from '../component-set.ts';
import { COMPLETED, NEW, OLD } from '../rollout/rollout-input.ts';

const SET = componentSet('general');
const stored = (revision = OLD, set = SET): KubeObject =>
  storedRevision(set, revision, 1) as unknown as KubeObject;

describe('a stored revision', () => {
  it('ROL-33 is read as it was stored', () => {
    expect(readRevision(OLD.name, stored())).toEqual(OLD);
    expect(stored().metadata).toMatchObject({
      name: `general-${OLD.name}`,
      ownerReferences: [{ kind: 'MachineComponentSet' }],
    });
  });

  it('is nothing when it is missing, or has another content than its name', () => {
    expect(readRevision(OLD.name, undefined)).toBeUndefined();
    expect(readRevision(OLD.name, stored(NEW))).toBeUndefined();
    expect(readRevision(OLD.name, { ...stored(), data: { components: ['x', {}] } })).toBeUndefined();
  });

  it('ROL-62 is kept while the history or the rollout names it, or the set that is paused asks for it', () => {
    const all = [stored(OLD), stored(NEW), stored(NEW, componentSet('other'))];
    const outdated = (...updateRevisions: readonly (string | undefined)[]): readonly KubeObject[] =>
      outdatedRevisions(SET, { history: [COMPLETED], updateRevisions }, all);
    expect(outdated(NEW.name)).toEqual([]);
    expect(outdated(NEW.name, OLD.name)).toEqual([]);
    expect(outdated(undefined, OLD.name)).toEqual([all[1]]);
  });
});
