/** Applies planned edits to the sources of a fleet, and checks that the result is read as intended. Pure. */
import { declarationsIn, type FleetFile } from './declarations.ts';
import { formatDiff } from './diff.ts';
import { type EditRefusal, type FindOutcome, type FoundComponent, findComponent } from './find.ts';
import { type NewRelease, planReleaseEdits, type SourceEdit } from './plan.ts';

export interface EditedSources {
  readonly edits: readonly SourceEdit[];
  /** The sources that differ, with their new text. */
  readonly changed: readonly FleetFile[];
  readonly diff: string;
  /** The reason why nothing may be written. */
  readonly refused?: EditRefusal;
}

export function editSources(
  sources: readonly FleetFile[],
  found: FoundComponent,
  release: NewRelease,
): EditedSources {
  const { edits = [], refused } = planReleaseEdits(found, release);
  const editsOf = ({ path }: FleetFile): readonly SourceEdit[] => edits.filter((each) => each.path === path);
  const all = sources.map((source) => ({ ...source, text: applyEdits(source.text, editsOf(source)) }));
  const { component } = found.declaration;
  const unsafe = refused ?? unsafeReason(findComponent(declarationsIn(all), component), release);
  if (unsafe) return { edits: [], changed: [], diff: '', refused: unsafe };
  return {
    edits,
    changed: all.filter((source) => editsOf(source).length > 0),
    diff: sources.map((source) => formatDiff(source, editsOf(source))).join(''),
  };
}

/** The edited text is read as the next run reads it: it must declare the release, and select it. */
function unsafeReason({ found, refused }: FindOutcome, release: NewRelease): EditRefusal | undefined {
  const again = found ? planReleaseEdits(found, release) : { refused };
  if (again.edits?.length === 0) return undefined;
  const because = again.refused?.because ?? 'the release is not found after the edit';
  return { because: `the file has a form that is not edited safely: ${because}`, hint: 'edit it by hand' };
}

/** Returns the text of a file with its edits. */
export function applyEdits(text: string, edits: readonly SourceEdit[]): string {
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((edited, edit) => edited.slice(0, edit.start) + edit.text + edited.slice(edit.end), text);
}
