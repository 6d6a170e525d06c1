// The nouns of the system and the tables everything else obeys.
export * from './bytes.ts';
export * from './config-forms.ts';
export * from './config.ts';
export * from './errors.ts';
export * from './ids.ts';
export * from './nearest.ts';
export * from './outcomes.ts';
export * from './requests.ts';
export * from './secrets.ts';
export * from './states.ts';
