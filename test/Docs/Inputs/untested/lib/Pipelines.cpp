PassPipelineRegistration<Options>("planted-pipeline", "", build);
