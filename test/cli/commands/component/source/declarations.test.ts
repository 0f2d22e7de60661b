import { describe, expect, it } from 'vitest';
import { declarationsIn, versionsOf } from '../../../../../src/cli/commands/component/source/declarations.ts';
import { placeOfReleases, placeOfSelection } from '../../../../../src/cli/commands/component/source/find.ts';

const TEXT = `import { componentReleases, type Versions } from 'kubenode/constructs';
const versions: Versions = { web: '1.0.0', 'node-tuning': pick() } as const;
const a = componentReleases({ component: 'web', versions: { '1.0.0': {} } });
const b = componentReleases({ component: 'db', versions: all });
const c = componentReleases({ component: NAME, versions: {} });
const d = componentReleases(props);
function componentReleases(props: object) {}
let versions = { let: '1' };
const versions = pick({ call: '1' });
const older = { versions: { inner: '1' } };
const versions`;

describe('declarationsIn', () => {
  const { releases, selections } = declarationsIn([{ path: 'a.ts', text: TEXT }]);

  it('finds the calls that name their component', () => {
    const found = releases.map((each) => [
      each.component,
      placeOfReleases(each),
      versionsOf(each)?.properties.length,
    ]);
    expect(found).toEqual([
      ['web', 'a.ts:3', 1],
      ['db', 'a.ts:4', undefined],
    ]);
  });

  it('finds the selected versions, and those that are not plain', () => {
    const found = selections.map((each) => [each.component, each.version, placeOfSelection(each)]);
    expect(found).toEqual([
      ['web', '1.0.0', 'a.ts:2'],
      ['node-tuning', undefined, 'a.ts:2'],
    ]);
  });
});
