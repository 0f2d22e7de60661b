/** Refuses a commit with an object that cannot be decrypted, or was changed without its key, before a cluster gets any part of it (S29). */
import { digestOf } from '../../../kube/objects/digest.ts';
import { objectIdOf, objectKey } from '../../../kube/objects/object-id.ts';
import { isSopsEncrypted } from '../../../kube/sops/leaves.ts';
import type { ContentVerdict } from '../../content-verdict.ts';
import { type DecryptionKeys, decryptObjects } from '../../decrypt-objects.ts';
import { refusalMessage } from '../../judge/content.ts';
import { MAX_REFUSALS } from '../../judge/object-checks.ts';
import type { Refusal } from '../../judge/refusal.ts';
import { type Rendered, type RenderedObject, sourceText } from '../../rendered.ts';

/** Returns why the commit is refused. Keeps no value. */
export async function decryptionRefusal(
  { targets }: Pick<Rendered, 'targets'>,
  keys: DecryptionKeys,
): Promise<Exclude<ContentVerdict, { accepted: true }> | undefined> {
  const refused: Refusal[] = [];
  const problemOf = createProblemReader(keys);
  for (const { target, unit, rendered } of encryptedObjects(targets)) {
    const message = await problemOf(rendered);
    const { object, source } = rendered;
    const about = { object: objectKey(objectIdOf(object)), source: sourceText(source) };
    if (message !== undefined) refused.push({ target, unit, ...about, message });
    if (refused.length >= MAX_REFUSALS) break;
  }
  return refused.length > 0 ? { accepted: false, message: refusalMessage(refused) } : undefined;
}

interface EncryptedObject {
  readonly target: string;
  readonly unit: string;
  readonly rendered: RenderedObject;
}

function encryptedObjects(targets: Rendered['targets']): EncryptedObject[] {
  return targets.flatMap(({ target, units }) =>
    units.flatMap(({ unit, objects }) =>
      objects.filter(({ object }) => isSopsEncrypted(object)).map((rendered) => ({ target, unit, rendered })),
    ),
  );
}

/** The same file is often rendered for every cluster of a fleet: each content is decrypted once, and the keys are read once. */
function createProblemReader(
  keys: DecryptionKeys,
): (rendered: RenderedObject) => Promise<string | undefined> {
  const known = new Map<string, string | undefined>();
  let reading: ReturnType<DecryptionKeys['read']> | undefined;
  const readOnce: DecryptionKeys = { ...keys, read: () => (reading ??= keys.read()) };
  return async (rendered) => {
    const content = digestOf(rendered.object);
    if (known.has(content)) return known.get(content);
    const found = (await decryptObjects([rendered], readOnce)).get(rendered);
    const problem = found && 'problem' in found ? found.problem : undefined;
    known.set(content, problem);
    return problem;
  };
}
