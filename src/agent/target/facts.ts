/** Holds what a target takes from the machine it runs on. */
export interface TargetFacts {
  readonly name: string;
  readonly address: string;
  readonly zone: string;
  readonly os: string;
  readonly arch: string;
  readonly clusterServer: string;
  /** The directory in which programs find the files of the host: `/`, or the directory of a sandbox. */
  readonly hostDirectory: string;
  /** Whether the host has units as text of systemd, drop-ins and units that exist already. */
  readonly systemdUnits: boolean;
  /** Returns the port that this host uses for a declared port of a component: a sandbox assigns free ones. */
  readonly portOf: (component: string, port: { readonly name: string; readonly port: number }) => number;
}
