/** Names who may not sign an approval, before it is signed. Pure. */
import { printableLine } from '../../../kube/objects/printable.ts';
import { EVERYBODY } from '../../../sync/commits.ts';

const MAX_NAMES = 20;

/** `people` are names, addresses and keys of those who have part in what is approved. */
export function excludedText(people: readonly string[]): string {
  if (people.includes(EVERYBODY)) {
    return 'No approval counts: not everybody who has part in these commits is known. Push a commit that changes the content again.\n';
  }
  const names = people.filter((name) => !/^(?:sha256|openpgp):/.test(name)).map(printableLine);
  if (names.length === 0) return 'The approval counts if it is signed and pushed alone.\n';
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more names` : '';
  const list = `${names.slice(0, MAX_NAMES).join(', ')}${more}`;
  return `The approval counts if it is pushed alone, and signed by another person than: ${list}\n`;
}
