/** How one kind of reference goes on the wire (contract 2.1: names and forms are model-specific). */
export interface SandboxReference {
  kind: 'image' | 'video' | 'audio';
  field: string;
  shape: 'array' | 'string';
  form: 'url' | 'data_url' | 'base64';
  max?: number;
}

/** Published price (contract 1): per task, per second or per specification, in integer micro-units. */
export type SandboxPrice =
  | { per: 'task' | 'second'; microUnits: number; currency: string }
  | {
      per: 'specification';
      currency: string;
      specifications: {
        resolution?: string;
        durationSeconds?: number;
        size?: string;
        quality?: string;
        microUnits: number;
      }[];
    };

export interface SandboxVideoModel {
  id: string;
  kind: 'video';
  durationField?: 'seconds' | 'duration';
  durationForm?: 'integer' | 'string';
  durations?: number[];
  resolutions?: string[];
  aspectRatios?: string[];
  references?: SandboxReference[];
  fields?: string[];
  polling?: { minSeconds: number; maxSeconds: number; firstPollSeconds?: number };
  price?: SandboxPrice;
}

export interface SandboxImageModel {
  id: string;
  kind: 'image';
  sizes?: string[];
  qualities?: string[];
  maxN?: number;
  responseFormats?: ('url' | 'b64_json')[];
  edit?: { mask?: boolean; fields?: string[]; maxImages?: number };
  price?: SandboxPrice;
}

export type SandboxModel = SandboxVideoModel | SandboxImageModel;

/** The live model configuration as one document (contract 2.3, 8). */
export interface SandboxModelDocument {
  version: 1;
  models: SandboxModel[];
}
