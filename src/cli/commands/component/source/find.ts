/** Finds what a change of one component edits, or the reason why its repository cannot be edited. Pure. */
import {
  type FleetDeclarations,
  placeOf,
  type ReleasesDeclaration,
  type VersionSelection,
  versionsOf,
} from './declarations.ts';
import { type ObjectLiteral } from './literal.ts';

export interface EditRefusal {
  readonly because: string;
  /** File and line, where there is one. */
  readonly where?: string;
  readonly hint: string;
  /** The published file is not the declared one: not a question of form. */
  readonly isDigestChanged?: true;
}

export interface FoundComponent {
  readonly declaration: ReleasesDeclaration;
  readonly versions: ObjectLiteral;
  /** Undefined: no version is selected. */
  readonly selection: VersionSelection | undefined;
}

export type FindOutcome =
  | { readonly found: FoundComponent; readonly refused?: never }
  | { readonly refused: EditRefusal; readonly found?: never };

export function findComponent(declarations: FleetDeclarations, component: string): FindOutcome {
  const releases = declarations.releases.filter((each) => each.component === component);
  const selections = declarations.selections.filter((each) => each.component === component);
  const [declaration, second] = releases;
  if (declaration === undefined) return { refused: notDeclared(component, declarations) };
  if (second !== undefined) {
    return { refused: ambiguous(component, releases.map(placeOfReleases), 'declared') };
  }
  if (selections.length > 1) {
    return { refused: ambiguous(component, selections.map(placeOfSelection), 'selected') };
  }
  const refused = formReason(declaration) ?? selectionReason(selections[0]);
  const versions = versionsOf(declaration);
  if (refused !== undefined || versions === undefined) return { refused: refused ?? otherForm(declaration) };
  return { found: { declaration, versions, selection: selections[0] } };
}

export function placeOfReleases({ source, call }: ReleasesDeclaration): string {
  return placeOf(source, call.start);
}

export function placeOfSelection({ source, property }: VersionSelection): string {
  return placeOf(source, property.key.start);
}

function notDeclared(component: string, { releases }: FleetDeclarations): EditRefusal {
  const names = [...new Set(releases.map((each) => each.component))].toSorted();
  return {
    because: `the repository declares no releases of ${component} with componentReleases({ component: '${component}', … })`,
    hint: `declare them in a file below fleet/, or use one of: ${names.join(', ') || '(none are declared)'}`,
  };
}

function ambiguous(component: string, places: readonly string[], verb: string): EditRefusal {
  const [where = ''] = places;
  return {
    because: `${component} is ${verb} more than once: ${places.join(', ')}`,
    where,
    hint: 'edit the right one by hand',
  };
}

/** Each version must be on lines of its own, so that a new one changes no other line. */
function formReason(declaration: ReleasesDeclaration): EditRefusal | undefined {
  const versions = versionsOf(declaration);
  const part = versions?.opaque;
  if (versions === undefined) return otherForm(declaration);
  if (part !== undefined) {
    return { ...otherForm(declaration), where: placeOf(declaration.source, part.start) };
  }
  if (versions.properties.length === 0) return undefined;
  const { text } = declaration.source;
  const starts = [...versions.properties.map(({ key }) => key.start), versions.end - 1];
  const inside = starts.find((start) => !isFirstOnLine(text, start));
  return inside === undefined
    ? undefined
    : {
        because: 'each version must begin on a line of its own',
        where: placeOf(declaration.source, inside),
        hint: 'format the object with a line for each version',
      };
}

function otherForm(declaration: ReleasesDeclaration): EditRefusal {
  return {
    because: "expected versions: { 'VERSION': { amd64: 'SHA256', arm64: 'SHA256' }, … } with plain names",
    where: placeOfReleases(declaration),
    hint: 'write the versions as one object literal, without spreads, variables and functions',
  };
}

function selectionReason(selection: VersionSelection | undefined): EditRefusal | undefined {
  if (selection === undefined || selection.version !== undefined) return undefined;
  return {
    because: `expected the version of ${selection.component} as a plain string`,
    where: placeOfSelection(selection),
    hint: `write ${selection.component}: 'VERSION'`,
  };
}

function isFirstOnLine(text: string, at: number): boolean {
  return text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trim() === '';
}
